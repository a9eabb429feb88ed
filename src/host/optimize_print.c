/* What `berth optimize` did, for people and as JSON. */
#include "host/json.h"
#include "host/optimize.h"
#include "host/text.h"
#include <inttypes.h>
#include <string.h>

static void line(FILE *stream, const char *label, uint64_t before, uint64_t after) {
  fprintf(stream, "%-14s %15s -> %11s bytes", label, berth_grouped(before).text,
          berth_grouped(after).text);
  if (after < before) {
    fprintf(stream, "  %s less", berth_percent(before - after, before).text);
  } else if (after > before) {
    fprintf(stream, "  %s more", berth_grouped(after - before).text);
  }
  fputc('\n', stream);
}

static void print_rehearsal(const berth_proof_t *proof, FILE *stream) {
  if (!proof->rehearsed) return;
  if (proof->clobbered) {
    fprintf(stream, "Proof failed   in TFLM's arena: %s\n", proof->clobber);
    return;
  }
  fprintf(stream, "               %u operators played in TFLM's arena", proof->played);
  if (proof->in_order > 0) {
    fprintf(stream, ", %u of them access by access%s", proof->in_order,
            proof->with_bytes ? ", with the runs' bytes" : "");
  }
  fprintf(stream, ":\n               all %s bytes that they read are still there then\n",
          berth_grouped(proof->checked).text);
}

static void print_proof(const berth_proof_t *proof, FILE *stream) {
  if (berth_proof_holds(proof) && proof->differ) {
    fprintf(
        stream,
        "Proof          %u runs of original and result: equal but for rounding, which makes up to\n"
        "               %.3g of an output's largest magnitude\n",
        proof->runs, proof->largest);
  } else if (berth_proof_holds(proof)) {
    fprintf(stream, "Proof          %u runs of original and result: %s bytes of outputs equal\n",
            proof->runs, berth_grouped(proof->bytes).text);
  } else if (proof->differ) {
    fprintf(stream,
            "Proof failed   output %u differs from byte %" PRIu64
            " on (seed %u, invoke %u), by up to %.3g\n",
            proof->output, proof->byte, proof->seed, proof->invoke + 1, proof->largest);
  }
  if (proof->findings > 0) {
    fprintf(stream, "Proof failed   %u finding%s of the guard, first: %s\n", proof->findings,
            proof->findings == 1 ? "" : "s", proof->finding);
  }
  if (proof->stand_ins > 0) {
    fprintf(
        stream,
        "               %u operator%s without a kernel (%s%s): proven for whatever computes its\n"
        "               outputs from its inputs alone\n",
        proof->stand_ins, proof->stand_ins == 1 ? "" : "s", proof->stand_in_name,
        proof->stand_in_kinds == 1 ? "" : " and others");
  }
  print_rehearsal(proof, stream);
}

/* The operators whose outputs share memory for the same reason as share number `first`, a few on
 * each line. */
static void print_operators(const berth_stock_plan_t *plan, uint32_t first, uint32_t alike,
                            FILE *stream) {
  const char *label = alike == 1 ? "operator" : "operators";
  uint32_t told = 0;
  for (uint32_t i = first; i < plan->share_count; i++) {
    const berth_stock_share_t *share = &plan->shares[i];
    if (share->diagonal || strcmp(share->reason, plan->shares[first].reason) != 0) continue;
    if (told % 12 == 0) fprintf(stream, "%s               %s", told > 0 ? "\n" : "", label);
    fprintf(stream, " %u", share->op);
    told++;
  }
  fputc('\n', stream);
}

/* Is this the first share of its reason? */
static bool is_first(const berth_stock_plan_t *plan, uint32_t index, uint32_t *alike) {
  *alike = 0;
  for (uint32_t i = 0; i < plan->share_count; i++) {
    if (plan->shares[i].diagonal != plan->shares[index].diagonal ||
        strcmp(plan->shares[i].reason, plan->shares[index].reason) != 0) {
      continue;
    }
    if (i < index) return false;
    (*alike)++;
  }
  return true;
}

/* Which outputs take an input's place, or reach into it, by reason. */
static void print_shares(const berth_stock_plan_t *plan, FILE *stream) {
  bool told[2] = {false, false};
  for (uint32_t i = 0; i < plan->share_count; i++) {
    const berth_stock_share_t *share = &plan->shares[i];
    uint32_t alike;
    if (!is_first(plan, i, &alike)) continue;
    const char *label = told[share->diagonal] ? "" : share->diagonal ? "Diagonal" : "In place";
    told[share->diagonal] = true;
    fprintf(stream, "%-14s %u output%s %s an input: %s\n", label, alike, alike == 1 ? "" : "s",
            share->diagonal ? "into" : "over", share->reason);
    if (!share->diagonal) {
      print_operators(plan, i, alike, stream);
      continue;
    }
    for (uint32_t k = i; k < plan->share_count; k++) {
      const berth_stock_share_t *other = &plan->shares[k];
      if (!other->diagonal || strcmp(other->reason, share->reason) != 0) continue;
      fprintf(stream,
              "               operator %u %s: begins %s bytes before tensor %u, %s are enough; %s "
              "in common\n",
              other->op, berth_builtin_name(other->code), berth_grouped(other->gap).text,
              other->input, berth_grouped(other->distance).text, berth_grouped(other->bytes).text);
    }
  }
}

void berth_optimization_print(const berth_optimization_t *optimization,
                              const berth_optimization_options_t *options, FILE *stream) {
  const berth_optimization_t *o = optimization;
  bool failed = o->proven && !berth_proof_holds(&o->proof);
  char name[256];
  if (failed) {
    snprintf(name, sizeof name, "nothing was written");
  } else {
    snprintf(name, sizeof name, "%.200s",
             options->output != NULL ? options->output : "not written");
  }
  fprintf(stream, "%s -> %s\n\n", o->path, name);
  if (o->before.known && o->after.known) {
    line(stream, "TFLM head", o->before.head_bytes, o->after.head_bytes);
    line(stream, "TFLM arena", o->before.arena_used_bytes, o->after.arena_used_bytes);
    fputs("               (as arena_used_bytes() reports on 32-bit Arm)\n", stream);
  } else if (o->after.why_not != NULL) {
    fprintf(stream, "TFLM           no forecast: %s\n", o->after.why_not);
  }
  if (o->plan.offsets != NULL) {
    fprintf(stream, "Plan           %15s bytes%s%s\n", berth_grouped(o->plan.head_bytes).text,
            o->plan.known ? ", scratch included" : ", without any scratch",
            o->plan.head_bytes == o->plan.lower_bound ? "; proven: none is smaller" : "");
    if (o->plan.left_out > 0) {
      fprintf(stream,
              "               without %u tensor%s that are left to TFLM: while they are live, a "
              "kernel\n"
              "               runs whose scratch is not known\n",
              o->plan.left_out, o->plan.left_out == 1 ? "" : "s");
    }
  } else if (!options->no_plan) {
    fputs("Plan           none: TFLM's own is as good\n", stream);
  }
  print_shares(&o->plan, stream);
  line(stream, "File", o->file_bytes_before, o->file_bytes);
  if (o->operators != o->operators_before) {
    fprintf(stream, "Operators      %u -> %u\n", o->operators_before, o->operators);
  }
  if (o->scales_folded > 0) {
    fprintf(stream, "Folded         %u: MUL and ADD into the convolution before\n",
            o->scales_folded);
  }
  for (uint32_t i = 0; berth_cleanup_at(i) != NULL; i++) {
    if (o->cleaned[i] == 0) continue;
    fprintf(stream, "Cleaned up     %u: %s\n", o->cleaned[i], berth_cleanup_at(i)->summary);
  }
  if (o->tensors_dropped > 0) fprintf(stream, "               %u tensors\n", o->tensors_dropped);
  if (o->moved > 0) {
    fprintf(stream, "Order          %u operators moved: tensors and scratch %s -> %s bytes%s\n",
            o->moved, berth_grouped(o->order.file_peak).text, berth_grouped(o->order.peak).text,
            o->order.optimal ? "; proven: no order needs less" : "");
  }
  if (o->shapes_fixed > 0) {
    fprintf(stream, "Shapes         %u tensors fixed, %u still known only at run time\n",
            o->shapes_fixed, o->still_dynamic);
  }
  if (o->proven) {
    print_proof(&o->proof, stream);
  } else {
    fputs("Proof          none was asked for\n", stream);
  }
}

static void proof_json(const berth_proof_t *proof, berth_json_t *json) {
  berth_json_open(json, "proof", '{');
  berth_json_bool(json, "holds", berth_proof_holds(proof));
  berth_json_bool(json, "equal", !proof->differ);
  if (proof->differ) berth_json_real(json, "largest_difference", proof->largest);
  berth_json_number(json, "runs", proof->runs);
  berth_json_number(json, "bytes_compared", proof->bytes);
  if (proof->differ) {
    berth_json_open_line(json, "first_difference", '{');
    berth_json_number(json, "seed", proof->seed);
    berth_json_number(json, "invoke", proof->invoke);
    berth_json_number(json, "output", proof->output);
    berth_json_number(json, "byte", proof->byte);
    berth_json_close(json, '}');
  }
  berth_json_number(json, "findings", proof->findings);
  if (proof->findings > 0) berth_json_string(json, "finding", proof->finding);
  berth_json_number(json, "stand_ins", proof->stand_ins);
  if (proof->rehearsed) {
    berth_json_open_line(json, "rehearsal", '{');
    berth_json_number(json, "operators", proof->played);
    berth_json_number(json, "in_order", proof->in_order);
    berth_json_number(json, "bytes_read", proof->checked);
    berth_json_bool(json, "with_bytes", proof->with_bytes);
    if (proof->clobbered) {
      berth_json_string(json, "fault", proof->clobber);
    } else {
      berth_json_null(json, "fault");
    }
    berth_json_close(json, '}');
  } else {
    berth_json_null(json, "rehearsal");
  }
  berth_json_close(json, '}');
}

static void need_json(const char *key, const berth_stock_need_t *need, berth_json_t *json) {
  if (!need->known) {
    berth_json_null(json, key);
    return;
  }
  berth_json_open_line(json, key, '{');
  berth_json_number(json, "head_bytes", need->head_bytes);
  berth_json_number(json, "arena_used_bytes", need->arena_used_bytes);
  berth_json_number(json, "min_arena_bytes", need->min_arena_bytes);
  berth_json_close(json, '}');
}

/* The shares of one kind. */
static void shares_json(const berth_stock_plan_t *plan, bool diagonal, berth_json_t *json) {
  berth_json_open(json, diagonal ? "diagonal" : "in_place", '[');
  for (uint32_t i = 0; i < plan->share_count; i++) {
    const berth_stock_share_t *share = &plan->shares[i];
    if (share->diagonal != diagonal) continue;
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "operator", share->op);
    berth_json_number(json, "input", share->input);
    berth_json_number(json, "output", share->output);
    berth_json_number(json, "bytes", share->bytes);
    if (diagonal) {
      berth_json_number(json, "distance", share->gap);
      berth_json_number(json, "safe_distance", share->distance);
    }
    berth_json_string(json, "reason", share->reason);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}

void berth_optimization_json(const berth_optimization_t *optimization,
                             const berth_optimization_options_t *options, FILE *stream) {
  const berth_optimization_t *o = optimization;
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", o->path);
  if (options->output != NULL && (!o->proven || berth_proof_holds(&o->proof))) {
    berth_json_string(&json, "output", options->output);
  } else {
    berth_json_null(&json, "output");
  }
  berth_json_number(&json, "file_bytes_before", o->file_bytes_before);
  berth_json_number(&json, "file_bytes", o->file_bytes);
  berth_json_number(&json, "operators_before", o->operators_before);
  berth_json_number(&json, "operators", o->operators);
  berth_json_number(&json, "operators_moved", o->moved);
  if (o->order.peak > 0) {
    berth_json_open_line(&json, "order", '{');
    berth_json_number(&json, "file_peak_bytes", o->order.file_peak);
    berth_json_number(&json, "peak_bytes", o->order.peak);
    berth_json_number(&json, "lower_bound_bytes", o->order.lower_bound);
    berth_json_close(&json, '}');
  } else {
    berth_json_null(&json, "order");
  }
  berth_json_open_line(&json, "cleaned", '{');
  for (uint32_t i = 0; berth_cleanup_at(i) != NULL; i++) {
    berth_json_number(&json, berth_cleanup_at(i)->name, o->cleaned[i]);
  }
  berth_json_close(&json, '}');
  berth_json_number(&json, "scales_folded", o->scales_folded);
  berth_json_number(&json, "tensors_dropped", o->tensors_dropped);
  berth_json_number(&json, "shapes_fixed", o->shapes_fixed);
  berth_json_number(&json, "still_dynamic", o->still_dynamic);
  need_json("before", &o->before, &json);
  need_json("after", &o->after, &json);
  if (o->plan.offsets != NULL) {
    berth_json_open(&json, "plan", '{');
    berth_json_number(&json, "head_bytes", o->plan.head_bytes);
    berth_json_number(&json, "lower_bound_bytes", o->plan.lower_bound);
    berth_json_bool(&json, "with_scratch", o->plan.known);
    berth_json_number(&json, "left_to_tflm", o->plan.left_out);
    berth_json_bool(&json, "reference_kernels_only", o->plan.foreign);
    shares_json(&o->plan, false, &json);
    shares_json(&o->plan, true, &json);
    berth_json_open_line(&json, "offsets", '[');
    for (uint32_t i = 0; i < o->plan.count; i++) {
      berth_json_signed(&json, NULL, o->plan.offsets[i]);
    }
    berth_json_close(&json, ']');
    berth_json_close(&json, '}');
  } else {
    berth_json_null(&json, "plan");
  }
  if (o->proven) {
    proof_json(&o->proof, &json);
  } else {
    berth_json_null(&json, "proof");
  }
  berth_json_close(&json, '}');
}
