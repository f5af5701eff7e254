/* SPDX-License-Identifier: MIT */
// A program written for DFTracer 2.x in C++: its class, entities and relations.
#include <dftracer/dftracer.h>
#include <cstdio>
#include <string>

static void transform(int i)
{
    DFTRACER_CPP_FUNCTION();
    std::string key = "sample-" + std::to_string(i);
    DFTRACER_CPP_FUNCTION_USES("raw_sample", key.c_str());
    DFTRACER_CPP_FUNCTION_GENERATES("structure", "one");
    DFTRACER_CPP_FUNCTION_UPDATE_TYPE("i", i, MetadataType::MT_VALUE);
}

int main()
{
    DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
    DFTRACER_CPP_MARK_USED("sub-layer");
    DFTRACER_CPP_APP_METADATA_INT("ranks", 4);
    DFTRACER_CPP_ENTITY_TYPE("structure", DFT_ROLE_OUTPUT, "A structure");
    for (int i = 0; i < 2; i++)
        transform(i);
    {
        DFTracer pack("pack", CPP_LOG_CATEGORY);
        EntityID archive = pack.relate(DFT_REL_GENERATED, "archive", "a.tar", DFT_STORE_PARALLEL_FS, "/p/out/a.tar");
        EntityID member = pack.uses("structure", "one");
        DFTRACER_CPP_ENTITY_RELATE(DFT_REL_CONTAINS, archive, member);
        pack.relate(DFT_REL_CONTAINS, member);
        pack.update("count", 1);
        pack.update("text", "one", MetadataType::MT_KEY);
    }
    DFTRACER_CPP_REGION_START(DYNAMIC);
    DFTRACER_CPP_REGION_DYN_RELATE(DYNAMIC, DFT_REL_INVALIDATED, DFTRACER_CPP_ENTITY("index", "old", DFT_STORE_OTHER, nullptr));
    DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(DYNAMIC, "key", "value", MT_KEY);
    DFTRACER_CPP_REGION_END(DYNAMIC);
    {
        DFTRACER_CPP_REGION(STATIC);
        DFTRACER_CPP_REGION_RELATE(STATIC, DFT_REL_USED, DFTRACER_CPP_ENTITY("index", "new", DFT_STORE_GPU_MEMORY, nullptr));
        DFTRACER_CPP_REGION_UPDATE_TYPE(STATIC, "key", 1, MT_KEY);
    }
    DFTracer moved = DFTracer("moved", CPP_LOG_CATEGORY, DF_DATA_EVENT);
    moved.finalize();
    DFTRACER_CPP_FINI();
    std::puts("done");
    return 0;
}
