/* Finding the positions that a ZIP archive states. Source of the format: APPNOTE.TXT 6.3 (PKWARE),
 * sections 4.3.12 (central directory) and 4.3.16 (its end). */
#include "optimize/zip.h"
#include "model/flatbuffer.h"

#define END_MARK    0x06054b50u
#define END_BYTES   22u
#define ENTRY_MARK  0x02014b50u
#define ENTRY_BYTES 46u
#define LOCAL_MARK  0x04034b50u
#define COMMENT_MAX 65535u

/* Where the end record is; `size` if there is none. It is the last thing in a file but for a
 * comment whose length it states. */
static uint64_t find_end(const uint8_t *file, uint64_t size) {
  for (uint64_t back = END_BYTES; back <= size && back <= END_BYTES + COMMENT_MAX; back++) {
    const uint8_t *at = file + (size - back);
    if (flat_load32(at) == END_MARK && flat_load16(at + 20) == back - END_BYTES) return size - back;
  }
  return size;
}

/* Length of the directory entry at `at`, or 0 if it isn't one that we understand. */
static uint64_t entry_bytes(const uint8_t *file, uint64_t at, uint64_t end) {
  if (end - at < ENTRY_BYTES || flat_load32(file + at) != ENTRY_MARK) return 0;
  uint64_t bytes = ENTRY_BYTES + (uint64_t)flat_load16(file + at + 28) +
                   flat_load16(file + at + 30) + flat_load16(file + at + 32);
  uint32_t local = flat_load32(file + at + 42);
  if (bytes > end - at || local > end - 4 || flat_load32(file + local) != LOCAL_MARK) return 0;
  return bytes;
}

void berth_zip_positions(const uint8_t *file, uint64_t size, berth_zip_position_t position,
                         void *user) {
  uint64_t end = find_end(file, size);
  if (end == size) return;
  uint32_t entries = flat_load16(file + end + 10);
  uint64_t directory_bytes = flat_load32(file + end + 12);
  uint64_t directory = flat_load32(file + end + 16);
  if (directory + directory_bytes != end) return;
  uint64_t at = directory;
  for (uint32_t i = 0; i < entries; i++) { /* all of them are right, or nothing is touched */
    uint64_t bytes = entry_bytes(file, at, end);
    if (bytes == 0) return;
    at += bytes;
  }
  if (at != end) return;
  at = directory;
  for (uint32_t i = 0; i < entries; i++) {
    position(user, at + 42, flat_load32(file + at + 42));
    at += entry_bytes(file, at, end);
  }
  position(user, end + 16, (uint32_t)directory);
}
