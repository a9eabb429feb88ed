/* A portfolio of orders for the skyline search.
 *
 * Search times are heavy-tailed: with a lucky order a problem falls in a few hundred choices, with
 * another one not in a million (Gomes, Selman, Kautz: "Boosting combinatorial search through
 * randomization", 1998). So there are many orders, each tried for a while. An order ranks buffers
 * by a weighted sum of logarithms (of the largest load of their sections, of lifetime, size and
 * number of sections): lexicographic orders as in MiniMalloc's "TAW" are those with weights far
 * apart. The first few have weights known to work, the others random ones. Integers only, so that
 * ranks are the same on every machine.
 *
 * Where no order works at once, the best one so far is varied: how far a short run gets is a
 * measure of its order, and climbing on it finds orders that no formula gives.
 */
#include "plan/exact_order.h"
#include "plan/sort.h"

/* Weights of the logarithms, and how much is added at random. */
typedef struct weights {
  uint32_t load, length, size, sections, noise;
} weights_t;

static const weights_t known[] = {
    {16000, 16, 16, 0, 0},    /* load, then area */
    {64000, 1000, 1, 0, 0},   /* load, then lifetime */
    {0, 16, 16, 0, 0},        /* area */
    {64000, 16, 16, 1000, 0}, /* load, then sections, then area */
    {0, 1000, 1, 0, 0},       /* lifetime */
    {0, 0, 16, 16, 0},        /* area in sections */
};

enum { KNOWN = sizeof known / sizeof known[0] };

/* Variation: one buffer in ONE_IN is moved, by FARTHEST ranks at most. */
enum { ONE_IN = 7, FARTHEST = 12 };

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint32_t draw(uint64_t *state, uint32_t below) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) % below);
}

static weights_t choose_weights(uint32_t number, uint64_t *state) {
  if (number < KNOWN) return known[number];
  static const uint32_t loads[] = {0, 160, 1600, 16000};
  weights_t weights;
  weights.load = loads[draw(state, 4)];
  weights.length = draw(state, 33);
  weights.size = draw(state, 33);
  weights.sections = draw(state, 3) == 0 ? draw(state, 33) : 0;
  weights.noise = draw(state, 3) != 0 ? draw(state, 16) : 0;
  return weights;
}

/* The binary logarithm of x >= 1 in 256ths, interpolated linearly between powers of two. */
static uint64_t logarithm(uint32_t x) {
  uint32_t whole = 0;
  while (x >> whole > 1) whole++;
  uint64_t rest = (uint64_t)x << 8 >> whole;
  return (uint64_t)whole * 256 + (rest - 256);
}

static bool before(const void *context, uint32_t a, uint32_t b) {
  const uint64_t *keys = context;
  return keys[a] > keys[b];
}

static bool equal(const berth_skyline_t *skyline, uint32_t a, uint32_t b) {
  return skyline->lower[a] == skyline->lower[b] && skyline->upper[a] == skyline->upper[b] &&
         skyline->size[a] == skyline->size[b] && skyline->align[a] == skyline->align[b] &&
         skyline->fixed[a] < 0 && skyline->fixed[b] < 0;
}

/* Equal buffers may be exchanged, so they come in the order of their ranks. */
static void find_twins(berth_skyline_t *skyline, const uint32_t *order) {
  bool wanted = berth_skyline_uses(skyline, BERTH_TECHNIQUE_TWIN);
  for (uint32_t i = 0; i < skyline->count; i++) {
    uint32_t j = wanted ? i : 0;
    while (j > 0 && !equal(skyline, order[i], order[j - 1])) j--;
    skyline->twin[order[i]] = j > 0 ? order[j - 1] : BERTH_SKYLINE_NONE;
  }
}

void berth_exact_order(berth_skyline_t *skyline, const uint32_t *length, uint32_t number,
                       uint32_t *order, uint32_t *spare) {
  uint64_t state = number;
  weights_t weights = choose_weights(number, &state);
  uint64_t *keys = skyline->keys;
  for (uint32_t i = 0; i < skyline->count; i++) {
    int32_t load = 1;
    for (uint32_t s = skyline->lower[i]; s < skyline->upper[i]; s++) {
      if (skyline->load[s] > load) load = skyline->load[s];
    }
    keys[i] = weights.load * logarithm((uint32_t)load) + weights.length * logarithm(length[i]) +
              weights.size * logarithm((uint32_t)skyline->size[i]) +
              weights.sections * logarithm(skyline->upper[i] - skyline->lower[i]) +
              weights.noise * (uint64_t)draw(&state, 256);
    order[i] = i;
  }
  berth_plan_sort(order, skyline->count, spare, before, keys);
  for (uint32_t i = 0; i < skyline->count; i++) skyline->rank[order[i]] = i;
  find_twins(skyline, order);
}

void berth_exact_vary(berth_skyline_t *skyline, const uint32_t *elite, uint64_t *random,
                      uint32_t *order, uint32_t *spare) {
  uint64_t *keys = skyline->keys;
  for (uint32_t i = 0; i < skyline->count; i++) {
    keys[i] = 2 * ((uint64_t)skyline->count - elite[i] + FARTHEST);
    if (draw(random, ONE_IN) == 0) {
      keys[i] += 1 + 2 * (uint64_t)draw(random, 2 * FARTHEST);
      keys[i] -= (uint64_t)2 * FARTHEST;
    }
    order[i] = i;
  }
  berth_plan_sort(order, skyline->count, spare, before, keys);
  for (uint32_t i = 0; i < skyline->count; i++) skyline->rank[order[i]] = i;
  find_twins(skyline, order);
}
