/* cmocka, with the headers that it wants before it; every test program starts with this. */
#ifndef BERTH_TEST_H
#define BERTH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
