// SPDX-License-Identifier: MIT
// The pictures, in the order in which they stand on the page.

export const pictures = [];
