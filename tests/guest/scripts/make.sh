# SPDX-License-Identifier: MIT
# A project built with several jobs: objects, archives, a shared library, C++, link-time optimisation, a make in a make. N: files.
set -e
mkdir -p src sub
for i in $(seq "$N"); do
    printf '#include <stdio.h>\n#include "h.h"\nint f%s(void) { return printf("%%d\\n", %s + LIMIT); }\n' "$i" "$i" >"src/f$i.c"
done
printf '#define LIMIT 100\n' >src/h.h
{
    for i in $(seq "$N"); do echo "int f$i(void);"; done
    echo 'int main(void) {'
    for i in $(seq "$N"); do echo "f$i();"; done
    echo 'return 0; }'
} >src/main.c
cat >sub/x.cpp <<CPP
#include <fstream>
#include <iostream>
#include <map>
#include <string>
int main() {
    std::map<std::string, int> m;
    std::ifstream in("Makefile");
    for (std::string w; in >> w;) m[w]++;
    for (auto &p : m) std::cout << p.first << ' ' << p.second << '\n';
    try { throw std::string("thrown"); } catch (std::string &s) { std::cout << s << std::endl; }
}
CPP
cat >sub/Makefile <<'MAKE'
all: x
x: x.cpp ; g++ -O1 -g -o $@ $<
MAKE
cat >Makefile <<'MAKE'
OBJECTS = $(patsubst src/%.c,%.o,$(sort $(wildcard src/f*.c)))
all: program shared lto sub
program: main.o libf.a ; gcc -o $@ $^
libf.a: $(OBJECTS) ; ar rcsD $@ $^ && ranlib -D $@
libf.so: $(OBJECTS) ; gcc -shared -o $@ $^
shared: main.o libf.so ; gcc -o $@ main.o -L. -lf -Wl,-rpath,'$$ORIGIN'
lto: $(wildcard src/*.c) ; gcc -O2 -flto=auto -fPIC -frandom-seed=1 -o $@ $(sort $^)
%.o: src/%.c ; gcc -O1 -g -fPIC -MMD -c -o $@ $<
sub: ; $(MAKE) -C sub
.PHONY: sub
-include *.d
MAKE
make -j3 -s --output-sync=target
make -j3 -q || echo up to date "$?"
touch src/h.h
make -j3 -n | grep -c -- ' -c '
make -j2 -s -k
./program | sha256sum
./shared | sha256sum
./lto | sha256sum
(cd sub && ./x)
objdump -d program | grep -c call
strip program
nm -D libf.so | sed 's/^[0-9a-f]*//' | sort | tail -n 3
printf 'bad: ; false\nworse: ; cat nosuch\nall: bad worse\n' >bad.mk
make -f bad.mk -k -j2 --output-sync all 2>&1 | sort || echo failed
