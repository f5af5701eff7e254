/* SPDX-License-Identifier: MIT */
// A name as C++ has it.
namespace plus
{
int add(int a, int b)
{
    return a + b;
}
} // namespace plus
