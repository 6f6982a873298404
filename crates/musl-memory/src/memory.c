/* memcpy, memmove, memcmp and bcmp for the static program: musl copies with `rep movsq`, which takes over 30 cycles
   however short the copy, and compares byte by byte. A patch of many files copies lines, that is 40 bytes at a time: 20 %
   of the time went there. The linker takes these, which stand before musl's.

   Up to 128 bytes everything is loaded before anything is stored, so that overlap does not matter; the two ends of a
   length overlap in the middle. Only SSE2 is used, which every x86_64 has. tests/loops.rs tries every length against a
   loop over bytes. */

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char byte;
typedef struct { uint64_t v; } __attribute__((packed, may_alias)) u64;
typedef struct { uint32_t v; } __attribute__((packed, may_alias)) u32;

#define LOAD(from) _mm_loadu_si128((const __m128i *)(from))
#define STORE(to, what) _mm_storeu_si128((__m128i *)(to), what)
#define INLINE static inline __attribute__((always_inline))

/* From here on the processor's own loop is faster than one of 64 bytes a step. */
enum { LARGE = 2048 };

INLINE void copy_to_128(byte *to, const byte *from, size_t n)
{
    if (n > 64) {
        __m128i a = LOAD(from), b = LOAD(from + 16), c = LOAD(from + 32), d = LOAD(from + 48);
        __m128i e = LOAD(from + n - 64), f = LOAD(from + n - 48), g = LOAD(from + n - 32), h = LOAD(from + n - 16);
        STORE(to, a), STORE(to + 16, b), STORE(to + 32, c), STORE(to + 48, d);
        STORE(to + n - 64, e), STORE(to + n - 48, f), STORE(to + n - 32, g), STORE(to + n - 16, h);
    } else if (n > 32) {
        __m128i a = LOAD(from), b = LOAD(from + 16), c = LOAD(from + n - 32), d = LOAD(from + n - 16);
        STORE(to, a), STORE(to + 16, b), STORE(to + n - 32, c), STORE(to + n - 16, d);
    } else if (n > 16) {
        __m128i a = LOAD(from), b = LOAD(from + n - 16);
        STORE(to, a), STORE(to + n - 16, b);
    } else if (n >= 8) {
        uint64_t a = ((const u64 *)from)->v, b = ((const u64 *)(from + n - 8))->v;
        ((u64 *)to)->v = a, ((u64 *)(to + n - 8))->v = b;
    } else if (n >= 4) {
        uint32_t a = ((const u32 *)from)->v, b = ((const u32 *)(from + n - 4))->v;
        ((u32 *)to)->v = a, ((u32 *)(to + n - 4))->v = b;
    } else if (n) {
        byte a = from[0], b = from[n / 2], c = from[n - 1];
        to[0] = a, to[n / 2] = b, to[n - 1] = c;
    }
}

/* More than 64 bytes upwards; `to` may stand before `from` and overlap it, so the end is loaded first. */
INLINE void copy_up(byte *to, const byte *from, size_t n)
{
    __m128i e = LOAD(from + n - 64), f = LOAD(from + n - 48), g = LOAD(from + n - 32), h = LOAD(from + n - 16);
    byte *last = to + n - 64;
    for (; to < last; to += 64, from += 64) {
        __m128i a = LOAD(from), b = LOAD(from + 16), c = LOAD(from + 32), d = LOAD(from + 48);
        STORE(to, a), STORE(to + 16, b), STORE(to + 32, c), STORE(to + 48, d);
    }
    STORE(last, e), STORE(last + 16, f), STORE(last + 32, g), STORE(last + 48, h);
}

/* More than 64 bytes downwards; `to` may stand after `from` and overlap it, so the beginning is loaded first. */
INLINE void copy_down(byte *to, const byte *from, size_t n)
{
    __m128i a = LOAD(from), b = LOAD(from + 16), c = LOAD(from + 32), d = LOAD(from + 48);
    for (size_t left = n; left > 64; left -= 64) {
        const byte *end = from + left;
        __m128i e = LOAD(end - 64), f = LOAD(end - 48), g = LOAD(end - 32), h = LOAD(end - 16);
        byte *stop = to + left;
        STORE(stop - 64, e), STORE(stop - 48, f), STORE(stop - 32, g), STORE(stop - 16, h);
    }
    STORE(to, a), STORE(to + 16, b), STORE(to + 32, c), STORE(to + 48, d);
}

/* Many bytes that do not overlap: whole words by the processor, and the last, which may be part of one, by hand. */
INLINE void copy_large(byte *to, const byte *from, size_t n)
{
    size_t words = n / 8;
    uint64_t last = ((const u64 *)(from + n - 8))->v;
    byte *end = to + n - 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
    ((u64 *)end)->v = last;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    if (n <= 128)
        copy_to_128(to, from, n);
    else if (n < LARGE)
        copy_up(to, from, n);
    else
        copy_large(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    /* How far `to` stands after `from`, and the other way round; wraps around when it stands before. */
    size_t after = (uintptr_t)to - (uintptr_t)from, before = (uintptr_t)from - (uintptr_t)to;
    if (n <= 128)
        copy_to_128(to, from, n);
    else if (n >= LARGE && after >= n && before >= n)
        copy_large(to, from, n);
    else if (after >= n)
        copy_up(to, from, n);
    else
        copy_down(to, from, n);
    return to;
}

int memcmp(const void *left, const void *right, size_t n)
{
    const byte *a = left, *b = right;
    if (n >= 16) {
        for (size_t at = 0;;) {
            unsigned equal = _mm_movemask_epi8(_mm_cmpeq_epi8(LOAD(a + at), LOAD(b + at)));
            if (equal != 0xffff) {
                at += __builtin_ctz(~equal);
                return a[at] - b[at];
            }
            at += 16;
            if (at == n)
                return 0;
            if (at + 16 > n)
                at = n - 16;
        }
    }
    if (n >= 8) {
        uint64_t x = ((const u64 *)a)->v ^ ((const u64 *)b)->v;
        if (x) {
            int at = __builtin_ctzll(x) / 8;
            return a[at] - b[at];
        }
        a += n - 8, b += n - 8, n = 8;
        x = ((const u64 *)a)->v ^ ((const u64 *)b)->v;
        if (!x)
            return 0;
        int at = __builtin_ctzll(x) / 8;
        return a[at] - b[at];
    }
    for (; n; n--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

int bcmp(const void *left, const void *right, size_t n)
{
    return memcmp(left, right, n);
}
