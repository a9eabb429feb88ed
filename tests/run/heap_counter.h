/* Counts what a program asks the heap for, in whichever way its build allows: by functions of its
 * own in place of malloc and its like, or, under a sanitizer, which has done that already, by the
 * sanitizer's hooks. To be included by one file of a program. */
#ifndef BERTH_TESTS_RUN_HEAP_COUNTER_H
#define BERTH_TESTS_RUN_HEAP_COUNTER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_SANITIZED 1
#endif

static volatile uint64_t heap_calls; /* so far; only ever read as a difference */

#if defined(HEAP_SANITIZED)
#define HEAP_COUNTED 1

int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void *, size_t),
    void (*free_hook)(const volatile void *)); /* sanitizer/allocator_interface.h */

static void heap_on_malloc(const volatile void *block, size_t bytes) {
  (void)block;
  (void)bytes;
  heap_calls++;
}

static void heap_on_free(const volatile void *block) {
  (void)block;
  heap_calls++;
}

static inline void heap_count(void) {
  (void)__sanitizer_install_malloc_and_free_hooks(heap_on_malloc, heap_on_free);
}

#elif defined(__GLIBC__)
#define HEAP_COUNTED 1

/* glibc's own names for what is replaced here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

void *malloc(size_t bytes) {
  heap_calls++;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  heap_calls++;
  return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes) {
  heap_calls++;
  return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  heap_calls++;
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  heap_calls++;
  *block = __libc_memalign(alignment, bytes);
  return *block != NULL ? 0 : ENOMEM;
}

void free(void *block) {
  heap_calls++;
  __libc_free(block);
}

static inline void heap_count(void) {}

#else
#define HEAP_COUNTED 0

static inline void heap_count(void) {}
#endif

#endif
