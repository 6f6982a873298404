/* Compares the memory functions of the static program, compiled under other names, with loops over bytes: every length up
   to 400 and some beyond, at every alignment, every overlap of up to 300 bytes, each buffer with its end (or its
   beginning) at a page that may not be touched. Prints how many cases it tried; 1 at the first that is wrong. */

#define _DEFAULT_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *tried_memcpy(void *restrict, const void *restrict, size_t);
void *tried_memmove(void *, const void *, size_t);
int tried_memcmp(const void *, const void *, size_t);
int tried_bcmp(const void *, const void *, size_t);

enum { ROOM = 1 << 15 };
static unsigned long tried;
static unsigned char model[ROOM], *left, *right;

static unsigned char *fenced(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *start = mmap(NULL, ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start + page, ROOM, PROT_READ | PROT_WRITE))
        exit(2);
    return start + page;
}

static void fill(unsigned char *bytes, unsigned seed)
{
    for (size_t at = 0; at < ROOM; at++)
        bytes[at] = (unsigned char)((at * 167 + seed) ^ (at >> 8));
}

static void require(int right_so, const char *what, size_t n, size_t to, size_t from)
{
    tried++;
    if (right_so)
        return;
    printf("%s is wrong: %zu bytes to %zu from %zu\n", what, n, to, from);
    exit(1);
}

static int same(const unsigned char *got)
{
    for (size_t at = 0; at < ROOM; at++)
        if (got[at] != model[at])
            return 0;
    return 1;
}

static void copy(size_t n, size_t to, size_t from)
{
    fill(left, 1), fill(right, 99), fill(model, 1);
    for (size_t at = 0; at < n; at++)
        model[to + at] = right[from + at];
    require(tried_memcpy(left + to, right + from, n) == left + to && same(left), "memcpy", n, to, from);
}

static void move(size_t n, size_t to, size_t from)
{
    fill(left, 7), fill(model, 7);
    for (size_t at = 0; at < n; at++)
        model[to + at] = left[from + at];
    require(tried_memmove(left + to, left + from, n) == left + to && same(left), "memmove", n, to, from);
}

static void compare(size_t n, size_t a, size_t b)
{
    for (size_t at = 0; at < n; at++)
        left[a + at] = right[b + at] = (unsigned char)(at * 31);
    require(tried_memcmp(left + a, right + b, n) == 0 && tried_bcmp(left + a, right + b, n) == 0, "memcmp", n, a, b);
    for (size_t at = 0; at < n; at++) {
        unsigned char was = left[a + at];
        /* What comes after the first difference must not matter. */
        unsigned char last = right[b + n - 1];
        left[a + at] = (unsigned char)(was + 128);
        if (at + 1 < n)
            right[b + n - 1] = (unsigned char)(last ^ 0x55);
        int sign = left[a + at] > was ? 1 : -1;
        int got = tried_memcmp(left + a, right + b, n);
        require((got > 0) - (got < 0) == sign && tried_bcmp(left + a, right + b, n), "memcmp", n, at, b);
        left[a + at] = was, right[b + n - 1] = last;
    }
}

int main(void)
{
    static const size_t large[] = {511, 1000, 2047, 2048, 2049, 2055, 4096, 5000, 10007};
    left = fenced(), right = fenced();
    for (size_t n = 0; n <= 400; n++) {
        copy(n, n % 16, n % 7), copy(n, 0, ROOM - n), copy(n, ROOM - n, 0), copy(n, ROOM - n, ROOM - n);
        move(n, ROOM - n, 0), move(n, 0, ROOM - n);
        if (n <= 100)
            compare(n, n % 16, 3), compare(n, ROOM - n, 0), compare(n, 0, ROOM - n);
    }
    for (size_t n = 0; n <= 150; n++)
        for (size_t to = 0; to < 16; to++)
            copy(n, to, (to * 5) % 16), move(n, 64 + to, 64), move(n, 64, 64 + to);
    for (size_t n = 120; n <= 300; n += 9)
        for (size_t by = 0; by <= 300; by++)
            move(n, 1000, 1000 + by), move(n, 1000 + by, 1000);
    for (size_t at = 0; at < sizeof large / sizeof *large; at++) {
        size_t n = large[at];
        copy(n, 3, 5), copy(n, ROOM - n, 0), copy(n, 0, ROOM - n);
        move(n, ROOM - n, 0), move(n, 0, ROOM - n), move(n, 100, 101), move(n, 101, 100), move(n, 0, n), move(n, n, 0);
        move(n, 5, n), move(n, n, 5), move(n, 64, 0), move(n, 0, 64), move(n, 0, 63), move(n, 63, 0);
        compare(n, 1, 2);
    }
    printf("%lu\n", tried);
    return 0;
}
