/* Ways to the tables of an open model, for the files of the reader. */
#ifndef BERTH_MODEL_MODEL_H
#define BERTH_MODEL_MODEL_H

#include "berth/model.h"

/* The Model table. */
berth_table_t berth_model_root(const berth_model_t *model);

/* A SubGraph table; `subgraph` is in range. */
berth_table_t berth_model_subgraph_table(const berth_model_t *model, uint32_t subgraph);

#endif
