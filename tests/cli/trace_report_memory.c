/* SPDX-License-Identifier: MIT */
/* A long timeline in little memory. With arguments, 'FILE MEBIBYTES': writes such a file, to try
 * 'belfry trace' on what is too large for a test. */
#include "support/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "trace_report_make.h"

#define MIB   (1024ull * 1024)
#define T(us) (1000000000ull + (us)*1000ull)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static void bytes_write(int fd, struct made *m)
{
    for (size_t done = 0; done < m->pb.size;) {
        ssize_t step = write(fd, m->pb.data + done, m->pb.size - done);
        assert_true(step > 0);
        done += (size_t)step;
    }
    bf_protobuf_rewind(&m->pb, 0);
}

/* Two queues that wait for each other and present, until the file is so long. Returns how many
 * frames there are. */
static uint64_t timeline_write(int fd, uint64_t size)
{
    struct made m;
    uint64_t written = 0;
    uint64_t frames = 0;
    made_begin(&m, true);
    struct made_queue g =
        made_queue(&m, made_track(&m, MADE_PROCESS, "engine 0", false), "graphics");
    struct made_queue c =
        made_queue(&m, made_track(&m, MADE_PROCESS, "engine 1", false), "compute");
    while (written < size) {
        uint64_t t = T(1000 * frames);
        uint64_t id = 3 * frames;
        uint64_t flow = 1000 + 2 * frames++;
        made_packet(&m, &c,
                    &(struct made_packet){.id = id + 1,
                                          .kind = "execute",
                                          .caption = "simulate",
                                          .queued_ns = t + 1000,
                                          .handed_over_ns = t + 2000});
        made_packet(&m, &g,
                    &(struct made_packet){.id = id + 2,
                                          .kind = "execute",
                                          .caption = "draw",
                                          .queued_ns = t + 3000,
                                          .handed_over_ns = t + 4000});
        made_instant(&m, &g, id + 3, "present", t + 5000, 0, 0);
        made_run(&m, &c, id + 1, t + 10000, t + 510000, 0, flow);
        made_run(&m, &g, id + 2, t + 510000, t + 910000, flow, flow + 1);
        made_unblocked(&m, &g, id + 3, t + 910000, flow + 1);
        if (m.pb.size > MIB) {
            written += m.pb.size;
            bytes_write(fd, &m);
        }
    }
    made_end(&m, m.clock_ns);
    bytes_write(fd, &m);
    made_finish(&m);
    return frames;
}

/* Bytes of memory that the process may touch now. */
static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* In a process of its own, which may take 40 MiB more than it has. */
static int limited_read(int fd, uint64_t frames, uint64_t frame)
{
    if (!SANITIZED) {
        rlim_t limit = address_space() + 40 * MIB;
        const struct rlimit memory = {limit, limit};
        if (setrlimit(RLIMIT_AS, &memory) != 0)
            return 1;
    }
    struct trace_load *load = trace_load_create();
    if (!load)
        return 2;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return 3;
    trace_load_run(load, "long", fd, frame);
    if (!load->usable) {
        fprintf(stderr, "%s\n", load->message);
        return 4;
    }
    const struct trace_model *m = load->report.model;
    bool right = m->present_count == frames && m->queues[0].submissions == frames &&
                 m->queues[0].executed == frames && m->busy.queues[0].busy == frames * 400000 &&
                 m->busy.queues[1].busy == frames * 500000 && m->busy.late == 0 &&
                 m->waits[0].count == frames && m->queues[0].presents.count == frames &&
                 load->report.frame.end_ns - load->report.frame.begin_ns == 1000000 &&
                 load->report.frame.number == frame;
    return right ? 0 : 5;
}

TEST(long_timeline_in_little_memory)
{
    int fd = memfd_create("long", MFD_CLOEXEC);
    assert_true(fd >= 0);
    uint64_t frames = timeline_write(fd, (SANITIZED ? 16 : 64) * MIB);
    /* A frame of long ago, so that it is read twice. */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(limited_read(fd, frames, 5000));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd < 0)
            return 1;
        printf("%llu frames\n",
               (unsigned long long)timeline_write(fd, strtoull(argv[2], NULL, 10) * MIB));
        return close(fd) ? 1 : 0;
    }
    return test_run(NULL);
}
