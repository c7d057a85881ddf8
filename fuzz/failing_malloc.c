// An allocator that fails on demand, for LD_PRELOAD: the n-th allocation of some size and more, alone or with all after it.
//
//     cc -shared -fPIC -O1 -o failing_malloc.so failing_malloc.c
//
// The functions behind the usual names are those that glibc exports for this purpose.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_size_t least = (size_t)-1;
static atomic_long nth, asked;
static atomic_int and_all_after;

// Has the n-th allocation of `from` bytes and more from now on fail, and all after it too if asked to; none for n = 0.
void failing_malloc(size_t from, long n, int all_after) {
    least = (size_t)-1;
    nth = n, asked = 0, and_all_after = all_after;
    least = from;
}

// How many such allocations there were since then.
long failing_malloc_asked(void) { return asked; }

static int fails(size_t size) {
    if (size < least) return 0;
    long number = ++asked;
    if (nth == 0 || number < nth || (number > nth && !and_all_after)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) return errno = ENOMEM, NULL;
    return fails(all) ? NULL : __libc_calloc(count, size);
}

// To make a block smaller needs no memory, and never fails.
void *realloc(void *at, size_t size) {
    if (at && size <= malloc_usable_size(at)) return __libc_realloc(at, size);
    return fails(size) ? NULL : __libc_realloc(at, size);
}

void *memalign(size_t alignment, size_t size) { return fails(size) ? NULL : __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **at, size_t alignment, size_t size) {
    void *got = memalign(alignment, size);
    if (!got) return ENOMEM;
    *at = got;
    return 0;
}
