/* berth check-plan: is somebody's plan for a model right? */
#include "commands.h"
#include "host/json.h"
#include "host/plan_check.h"
#include "host/sharing.h"
#include "host/streaming_read.h"
#include "host/text.h"
#include "options.h"

#include <stdlib.h>

static const char *const fault_names[] = {"missing", "needless",           "alignment", "outside",
                                          "overlap", "output_overwritten", "size",      "lifetime"};

static const char *tensor_text(const berth_model_t *model, uint32_t subgraph, uint32_t tensor,
                               char *text, size_t size) {
  char name[96];
  berth_text_t full = berth_model_tensor(model, subgraph, tensor).name;
  berth_printable(full.data, full.length, 40, name, sizeof name);
  if (subgraph == 0) {
    snprintf(text, size, "tensor %u (%s)", tensor, name);
  } else {
    snprintf(text, size, "tensor %u (%s) of subgraph %u", tensor, name, subgraph);
  }
  return text;
}

/* "3 to 7", "3 on", "up to 7" */
static const char *steps_text(int64_t first, int64_t last, char *text, size_t size) {
  if (first < 0) {
    snprintf(text, size, "up to %lld", (long long)last);
  } else if (last < 0) {
    snprintf(text, size, "%lld on", (long long)first);
  } else {
    snprintf(text, size, "%lld to %lld", (long long)first, (long long)last);
  }
  return text;
}

static void verdict(const berth_model_t *model, const berth_plan_finding_t *finding, char *text,
                    size_t size) {
  char a[192], b[192] = "";
  tensor_text(model, finding->subgraph, finding->a, a, sizeof a);
  if (finding->b != BERTH_NOBODY) {
    tensor_text(model, finding->b_subgraph, finding->b, b, sizeof b);
  }
  unsigned long long bytes = finding->bytes;
  switch (finding->fault) {
  case BERTH_PLAN_FAULT_MISSING:
    snprintf(text, size, "%s needs %llu bytes and has no offset", a, bytes);
    break;
  case BERTH_PLAN_FAULT_NEEDLESS:
    snprintf(text, size, "%s has an offset but needs no memory: a constant, or unused", a);
    break;
  case BERTH_PLAN_FAULT_ALIGNMENT:
    snprintf(text, size, "%s is misaligned by %llu bytes", a, bytes);
    break;
  case BERTH_PLAN_FAULT_OUTSIDE:
    snprintf(text, size, "%s reaches %llu bytes beyond the arena", a, bytes);
    break;
  case BERTH_PLAN_FAULT_OVERLAP:
    snprintf(text, size, "%s is overwritten by %s: %llu bytes in steps %u to %u", a, b, bytes,
             finding->first, finding->last);
    break;
  case BERTH_PLAN_FAULT_OUTPUT:
    snprintf(text, size, "the output %s is overwritten by %s: %llu bytes in steps %u to %u", a, b,
             bytes, finding->first, finding->last);
    break;
  case BERTH_PLAN_FAULT_SIZE:
    snprintf(text, size, "%s was planned with %llu bytes too few", a, bytes);
    break;
  case BERTH_PLAN_FAULT_LIFETIME:
    steps_text(finding->stated_first, finding->stated_last, b, sizeof b);
    snprintf(text, size, "%s was planned for steps %s, but lives in steps %u to %u", a, b,
             finding->first, finding->last);
    break;
  }
}

static void print(const options_t *options, const berth_subject_t *subject,
                  const berth_plan_check_t *check) {
  printf("%s: %s, peak %s bytes\n", options->second != NULL ? options->second : options->path,
         check->count == 0 ? "the plan is right" : "the plan is wrong",
         berth_grouped(check->peak).text);
  for (size_t i = 0; i < check->count; i++) {
    char text[640];
    verdict(&subject->model, &check->findings[i], text, sizeof text);
    printf("  %s\n", text);
  }
}

static void print_json(const options_t *options, const berth_subject_t *subject,
                       const berth_plan_check_t *check) {
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", options->path);
  berth_json_number(&json, "peak_bytes", check->peak);
  berth_json_bool(&json, "right", check->count == 0);
  berth_json_open(&json, "findings", '[');
  for (size_t i = 0; i < check->count; i++) {
    const berth_plan_finding_t *finding = &check->findings[i];
    char text[640];
    verdict(&subject->model, finding, text, sizeof text);
    berth_json_open_line(&json, NULL, '{');
    berth_json_string(&json, "fault", fault_names[finding->fault]);
    berth_json_number(&json, "subgraph", finding->subgraph);
    berth_json_number(&json, "tensor", finding->a);
    if (finding->b != BERTH_NOBODY) berth_json_number(&json, "other", finding->b);
    berth_json_number(&json, "first", finding->first);
    berth_json_number(&json, "last", finding->last);
    berth_json_number(&json, "bytes", finding->bytes);
    berth_json_string(&json, "text", text);
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}

/* Has a plan memory for results of operators on constants? It is for a runtime that runs those. */
static bool places_foldable(const berth_subject_t *subject, const berth_offsets_t *offsets) {
  for (uint32_t i = 0; i < subject->graph.tensor_count; i++) {
    if (subject->graph.tensors[i].foldable && offsets->offsets[i] >= 0) return true;
  }
  return false;
}

static int judge(const options_t *options, berth_subject_t *subject, const berth_offsets_t *offsets,
                 bool own) {
  berth_complaint_t complaint;
  berth_plan_check_t check;
  berth_sharing_t *sharing = NULL;
  berth_status_t status =
      berth_sharing_permissions(subject, &options->subject, true, &sharing, &complaint);
  if (status != BERTH_OK) return failed(&complaint);
  berth_plan_rules_t rules = {.align = options->subject.align > 0 ? options->subject.align : 16,
                              .capacity = options->planning.capacity,
                              .allow_missing = own,
                              .sharing = sharing,
                              .overlap = options->execution.runner.interpreter.overlap,
                              .keep_inputs = options->subject.keep_inputs};
  status = berth_plan_check(subject, offsets, &rules, &check);
  free(sharing);
  if (status != BERTH_OK) {
    berth_complain(&complaint, "%s: %s", options->path, berth_status_text(status));
    return failed(&complaint);
  }
  if (options->json) {
    print_json(options, subject, &check);
  } else {
    print(options, subject, &check);
  }
  int result = check.count > 0 ? EXIT_FINDING : EXIT_DONE;
  berth_plan_check_free(&check);
  return result;
}

static int check_plan(const options_t *options, berth_subject_t *subject) {
  berth_complaint_t complaint;
  berth_offsets_t offsets;
  if (!subject->is_model) {
    berth_complain(&complaint, "%s: not a model", subject->path);
    return failed(&complaint);
  }
  bool own = options->second == NULL;
  berth_status_t status =
      own ? berth_offsets_of_model(&subject->model, options->path, &offsets, &complaint)
          : berth_offsets_read(&subject->model, options->second, &offsets, &complaint);
  if (status != BERTH_OK) return failed(&complaint);
  berth_saved_streaming_t saved = {.run_count = 0};
  if (!own) status = berth_saved_streaming_read(options->second, &saved, &complaint);
  if (status == BERTH_OK && saved.run_count > 0) {
    berth_complain(&complaint, "%s: is a streamed plan, which berth run --plan checks and runs",
                   options->second);
    status = BERTH_ERROR_UNSUPPORTED;
  }
  if (status == BERTH_OK && !own) {
    status = berth_saved_order_check(&saved, options->second, &subject->model, &complaint);
  }
  if (status != BERTH_OK) {
    berth_saved_streaming_free(&saved);
    berth_offsets_free(&offsets);
    return failed(&complaint);
  }
  int result;
  bool unfolded = places_foldable(subject, &offsets);
  if (unfolded || saved.order != NULL) {
    berth_subject_options_t as_planned = options->subject;
    berth_subject_t whole;
    as_planned.keep_foldable = as_planned.keep_foldable || unfolded;
    as_planned.order = saved.order;
    if (berth_subject_open(options->path, &as_planned, &whole, &complaint) == BERTH_OK) {
      result = judge(options, &whole, &offsets, own);
      berth_subject_close(&whole);
    } else {
      result = failed(&complaint);
    }
  } else {
    result = judge(options, subject, &offsets, own);
  }
  berth_saved_streaming_free(&saved);
  berth_offsets_free(&offsets);
  return result;
}

int command_check_plan(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_CHECK_PLAN, &options)) {
    berth_complaint_t complaint;
    berth_subject_t subject;
    if (options.help) {
      puts("usage: berth check-plan [OPTION]... MODEL.tflite [PLAN.json|PLAN.csv]\n\n"
           "Checks a plan for a model: Berth's JSON or CSV (columns subgraph, tensor, offset), or\n"
           "the OfflineMemoryAllocation that the model itself carries. Says which tensors overlap\n"
           "in time and space, are misaligned, missing, or beyond the arena (--capacity), or were\n"
           "planned for another size or other steps than the model's, if the plan says. Steps are\n"
           "those of the plan's order, where it has one (berth plan --order best). Outputs\n"
           "may lie on inputs where Berth's kernels permit it (--overlap none: nowhere). Exit\n"
           "status 3 if anything is wrong.\n");
      options_print(FOR_CHECK_PLAN, stdout);
      status = EXIT_DONE;
    } else if (berth_subject_open(options.path, &options.subject, &subject, &complaint) !=
               BERTH_OK) {
      status = failed(&complaint);
    } else {
      status = check_plan(&options, &subject);
      berth_subject_close(&subject);
    }
  }
  options_free(&options);
  return status;
}
