/* Maps files read-only and opens models in them; used by every command that takes a model. The
 * mapping stays valid after the file is closed, renamed or unlinked, though not if it is truncated
 * meanwhile: then the system ends the program, as with any mapping.
 */
#include "host/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static berth_status_t explain(char *message, berth_status_t status, const char *why) {
  if (message != NULL) snprintf(message, BERTH_HOST_MESSAGE, "%s", why);
  return status;
}

/* Maps the open file `fd`; the caller closes it. */
static berth_status_t map_open_file(int fd, berth_host_map_t *map, char *message) {
  struct stat info;
  if (fstat(fd, &info) != 0) return explain(message, BERTH_ERROR_ARGUMENT, strerror(errno));
  if (S_ISDIR(info.st_mode)) return explain(message, BERTH_ERROR_ARGUMENT, "it is a directory");
  if (!S_ISREG(info.st_mode))
    return explain(message, BERTH_ERROR_ARGUMENT, "it is not a regular file");
  if (info.st_size == 0) return explain(message, BERTH_ERROR_ARGUMENT, "the file is empty");
  if ((uint64_t)info.st_size > SIZE_MAX)
    return explain(message, BERTH_ERROR_OVERFLOW, "the file is too large for this machine");
  void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return explain(message, BERTH_ERROR_ARGUMENT, strerror(errno));
  /* Tables lie scattered among weights: reading ahead would bring in weights that nobody asked for,
   * of a 27 MB model every page (docs/model-reader.md). The advice changes speed only, so its
   * failure doesn't matter. */
  posix_madvise(data, (size_t)info.st_size, POSIX_MADV_RANDOM);
  *map = (berth_host_map_t){data, (uint64_t)info.st_size};
  return BERTH_OK;
}

berth_status_t berth_host_map(const char *path, berth_host_map_t *map,
                              char message[BERTH_HOST_MESSAGE]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make it wait */
  if (fd < 0) return explain(message, BERTH_ERROR_ARGUMENT, strerror(errno));
  berth_status_t status = map_open_file(fd, map, message);
  close(fd);
  return status;
}

void berth_host_unmap(berth_host_map_t *map) {
  if (map->data != NULL) munmap((void *)map->data, (size_t)map->size);
  *map = (berth_host_map_t){NULL, 0};
}

berth_status_t berth_host_open_model(const char *path, berth_host_map_t *map, berth_model_t *model,
                                     char message[BERTH_HOST_MESSAGE]) {
  berth_host_map_t file;
  berth_model_error_t error;
  berth_status_t status = berth_host_map(path, &file, message);
  if (status != BERTH_OK) return status;
  status = berth_model_open(file.data, file.size, model, &error);
  if (status != BERTH_OK) {
    if (message != NULL) berth_host_model_message(&error, message);
    berth_host_unmap(&file);
    return status;
  }
  *map = file;
  return BERTH_OK;
}

void berth_host_model_message(const berth_model_error_t *error, char message[BERTH_HOST_MESSAGE]) {
  char place[64] = "";
  int length = 0;
  if (error->subgraph != UINT32_MAX)
    length = snprintf(place, sizeof place, ", subgraph %u", error->subgraph);
  if (error->tensor != UINT32_MAX)
    snprintf(place + length, sizeof place - (size_t)length, ", tensor %u", error->tensor);
  if (error->op != UINT32_MAX)
    snprintf(place + length, sizeof place - (size_t)length, ", operator %u", error->op);
  snprintf(message, BERTH_HOST_MESSAGE, "%s %s (byte %llu%s)", error->subject, error->fault,
           (unsigned long long)error->position, place);
}
