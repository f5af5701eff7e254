/* SPDX-License-Identifier: MIT */
/* The types of remote file systems, and the mount point of a path. */
#include "findings/mounts.h"

#include <string.h>

#include "findings/facts.h"
#include "format/hash.h"
#include "mpi/comm.h"

/* Those that GNU df -l leaves out, and what parallel file systems and hosts of virtual machines
 * call theirs. "fuseblk" is none: a program answers there, but from a device. */
static const char *const networks[] = {"9p",    "acfs",   "afs",      "auristorfs", "beegfs", "ceph",   "cifs",
                                       "coda",  "fhgfs",  "gfs",      "gfs2",       "gpfs",   "lustre", "ncpfs",
                                       "nfs",   "nfs4",   "ocfs2",    "orangefs",   "panfs",  "pvfs2",  "smb3",
                                       "smbfs", "vboxsf", "virtiofs", "wekafs"};

enum dft_mount_kind dft_mount_kind(struct dft_text type)
{
    if (type.length >= 4 && !memcmp(type.bytes, "fuse", 4) && (type.length == 4 || type.bytes[4] == '.'))
        return DFT_MOUNT_FUSE;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strlen(networks[i]) == type.length && !memcmp(networks[i], type.bytes, type.length))
            return DFT_MOUNT_NETWORK;
    return DFT_MOUNT_LOCAL;
}

int dft_mounts_collect(struct dft_facts *facts)
{
    const struct dft_mounts *mounts = &facts->mounts.mounts;
    int rc = dft_comm_agree(dft_file_grouping_init(&facts->mounts, DFT_FILES_MOUNT, 0, facts->request->source));

    for (size_t i = 0; !rc && i < mounts->count; i++)
        facts->has_remote |= dft_mount_kind(mounts->list[i].type) != DFT_MOUNT_LOCAL;
    return rc;
}

static int put_id(void *context, struct dft_text point)
{
    *(uint64_t *)context = dft_name_id(point.bytes, point.length);
    return 0;
}

uint64_t dft_mounts_of(const struct dft_facts *facts, struct dft_text path)
{
    uint64_t id = 0;

    dft_file_grouping_text(&facts->mounts, path, put_id, &id);
    return id;
}
