/* Writes the model of sample.h to a file.
 *
 *   write_sample FILE
 */
#include "sample.h"

#include <stdio.h>

int main(int argc, char **argv) {
  static sample_t sample;
  sample_build(&sample);
  FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
  if (file == NULL) return 1;
  size_t written = fwrite(sample.file.bytes, 1, sample.file.size, file);
  return fclose(file) == 0 && written == sample.file.size ? 0 : 1;
}
