/* SPDX-License-Identifier: MIT */
/* The presets that come with dftmerge. */
#include <string.h>

#include "layers/preset.h"

const struct dft_builtin_preset dft_builtin_presets[DFT_BUILTIN_PRESETS] = {
    {"posix", "calls by what they do", NULL,
     "compute   role=compute cat=compute,ai_framework\n"
     "compute   name=compute,forward,backward\n"
     "posix     class=read,write,sync,meta,startup\n"
     "read      parent=posix class=read\n"
     "write     parent=posix class=write\n"
     "sync      parent=posix class=sync\n"
     "metadata  parent=posix class=meta\n"
     "startup   parent=posix class=startup\n"},
    {"dlio", "regions of DLIO, and the calls in them", "dlio_benchmark,ai_framework",
     "app               cat=dlio_benchmark name=*.run\n"
     "training          parent=app cat=dlio_benchmark name=*._train,*.train\n"
     "compute           parent=training role=compute cat=ai_framework,compute\n"
     "fetch_data        parent=training name=*.iter\n"
     "data_loader       parent=fetch_data cat=data_loader name=!*.iter,!*.yield\n"
     "data_loader_fork  parent=data_loader cat=POSIX,PROCESS name=fork,vfork\n"
     "reader            parent=data_loader cat=reader\n"
     "reader_posix      parent=reader cat=POSIX,STDIO inside=reader\n"
     "checkpoint        parent=training cat=checkpoint\n"
     "checkpoint_posix  parent=checkpoint cat=POSIX,STDIO inside=checkpoint\n"
     "other_posix       cat=POSIX,STDIO outside=data_loader_fork,reader,checkpoint\n"},
    {"generic", "one layer for each category", NULL,
     "{cat}  role=compute cat=compute,ai_framework\n"
     "{cat}  cat=*\n"},
    {"torch", "regions of `python -m dftrace run --torch`, and the calls in them", "torch",
     "epoch             cat=torch name=epoch\n"
     "step              parent=epoch cat=torch name=step\n"
     "compute           parent=step role=compute cat=compute\n"
     "wait_for_data     parent=step cat=torch name=\"wait for data\"\n"
     "start_loader      parent=wait_for_data cat=torch name=\"start loader\"\n"
     "fetch             parent=wait_for_data cat=torch name=fetch\n"
     "item              parent=fetch cat=torch name=getitem,getitems\n"
     "fetch_posix       parent=item cat=POSIX,STDIO inside=fetch,item\n"
     "checkpoint        parent=epoch cat=checkpoint\n"
     "checkpoint_posix  parent=checkpoint cat=POSIX,STDIO inside=checkpoint\n"
     "other_posix       cat=POSIX,STDIO outside=fetch,item,checkpoint\n"},
};

const struct dft_builtin_preset *dft_builtin_preset(const char *name)
{
    for (unsigned i = 0; i < DFT_BUILTIN_PRESETS; i++)
        if (!strcmp(dft_builtin_presets[i].name, name))
            return &dft_builtin_presets[i];
    return NULL;
}

void dft_builtin_preset_print(FILE *out, const struct dft_builtin_preset *builtin)
{
    fprintf(out,
            "# Preset %s: %s. `dftmerge layers --preset FILE` reads this form.\n"
            "# LAYER KEY=VALUE...; keys are cat name path class region inside outside parent role.\n%s",
            builtin->name, builtin->brief, builtin->text);
}
