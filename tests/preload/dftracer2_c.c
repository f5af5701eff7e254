/* SPDX-License-Identifier: MIT */
/* A program written for DFTracer 2.x in C: entities, relations, and the functions behind the
 * macros. Nothing here is of ours. */
#include <dftracer/dftracer.h>
#include <stdio.h>

static void transform(int i)
{
    char key[32];
    DFTRACER_C_FUNCTION_START();
    snprintf(key, sizeof key, "sample-%d", i);
    DFTRACER_C_FUNCTION_USES("raw_sample", key);
    DFTRACER_C_FUNCTION_GENERATES("structure", "one");
    DFTRACER_C_FUNCTION_UPDATE_INT_TYPE("i", i, 1);
    update_relation_entity(data_fn, DFT_REL_UPDATED, "index", "main", DFT_STORE_DATABASE, "db://main");
    DFTRACER_C_FUNCTION_END();
}

/* The category is not the macros', and the names are gone when the region ends. */
static void by_functions(void)
{
    char name[16] = "by_functions", category[8] = "MINE";
    struct DFTracerData *data = initialize_region(name, category, DF_DATA_EVENT);

    name[0] = category[0] = 0;
    update_metadata_int(data, "number", 7);
    update_metadata_string_type(data, "text", "seven", 0);
    finalize_region(data);
    finalize_region(initialize_region("a key", "its value", DF_METADATA_EVENT));
}

int main(void)
{
    EntityID archive, member;

    DFTRACER_C_INIT(NULL, NULL, NULL);
    DFTRACER_C_MARK_USED("sub-layer");
    DFTRACER_C_APP_METADATA_INT("ranks", 4);
    DFTRACER_C_APP_METADATA_STR("model", "unet");
    DFTRACER_C_ENTITY_TYPE("raw_sample", DFT_ROLE_INPUT, "An \"input\" sample");
    for (int i = 0; i < 3; i++)
        transform(i);
    archive = DFTRACER_C_ENTITY("archive", "a.tar", DFT_STORE_PARALLEL_FS, "/p/out/a.tar");
    member = DFTRACER_C_ENTITY("structure", "one", DFT_STORE_MEMORY, NULL);
    DFTRACER_C_REGION_START(pack);
    DFTRACER_C_REGION_RELATE(pack, DFT_REL_GENERATED, archive);
    DFTRACER_C_REGION_RELATE(pack, DFT_REL_USED, member);
    DFTRACER_C_REGION_RELATE(pack, DFT_REL_CONTAINS, member); /* of entities: ignored on a region */
    DFTRACER_C_REGION_END(pack);
    DFTRACER_C_ENTITY_RELATE(DFT_REL_CONTAINS, archive, member);
    DFTRACER_C_ENTITY_RELATE(DFT_REL_USED, archive, member); /* of regions: ignored between entities */
    by_functions();
    DFTRACER_C_FINI();
    printf("%016llx\n", (unsigned long long)archive);
    return 0;
}
