/* Kills a process before the nth change that it makes below a folder, or to one file besides, and writes each change to a log; for record_crashes.py.

   gcc -shared -fPIC -o halt_at.so halt_at.c -ldl; LD_PRELOAD=./halt_at.so HALT_ROOT=/folder HALT_ALSO=/file HALT_AT=3 HALT_LOG=/log java …
   A change is a file that is made or written anew, renamed or removed; checksums (.crc) and folders are none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int changes = 0;

static void count(const char *verb, const char *path, const char *target) {
    const char *root = getenv("HALT_ROOT"), *also = getenv("HALT_ALSO"), *log = getenv("HALT_LOG"), *at = getenv("HALT_AT");
    const char *end = path == NULL ? NULL : strrchr(path, '.');
    if (root == NULL || also == NULL || log == NULL || path == NULL) return;
    if (strncmp(path, root, strlen(root)) != 0 && strcmp(path, also) != 0) return;
    if (end != NULL && strcmp(end, ".crc") == 0) return;
    int number = __sync_add_and_fetch(&changes, 1), is_last = at != NULL && atoi(at) == number;
    char line[4096];
    int length = snprintf(line, sizeof line, "%d\t%s%s\t%s\t%s\n", number, is_last ? "killed before " : "", verb, path, target);
    int (*plain)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int file = plain(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file >= 0 && write(file, line, length) == length) close(file);
    if (is_last) kill(getpid(), SIGKILL), pause();
}

#define OPEN(name)                                                      \
    int name(const char *path, int flags, ...) {                        \
        va_list rest;                                                   \
        va_start(rest, flags);                                          \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;       \
        va_end(rest);                                                   \
        int (*plain)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        if (flags & O_CREAT) count("write", path, "");                  \
        return plain(path, flags, mode);                                \
    }
OPEN(open)
OPEN(open64)

int rename(const char *old, const char *new) {
    int (*plain)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    count("rename", old, new);
    return plain(old, new);
}

int unlink(const char *path) {
    int (*plain)(const char *) = dlsym(RTLD_NEXT, "unlink");
    count("remove", path, "");
    return plain(path);
}

int remove(const char *path) {
    int (*plain)(const char *) = dlsym(RTLD_NEXT, "remove");
    count("remove", path, "");
    return plain(path);
}
