/* Stands between a program and its disk: notes every change below a folder, and may kill at one.

   Loaded with LD_PRELOAD, and asleep until `chaos_begin` is called, or until a program starts that
   another of them began. What changes the disk is done, and then noted in one write to the log,
   in the order in which it was done; `states.py` reads the log. A change that is to be the last is
   not done: the process is killed in its place, the first pages of a write having been done. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, SIZE, SYNC, SYNC_FOLDER, RENAME, LINK, UNLINK, FOLDER, NO_FOLDER };

struct head { /* 48 bytes, then the first name, the second name and the data */
  uint32_t what, first_length, second_length, spare;
  uint64_t file, offset, length, size;
};

static char root[PATH_MAX], log_name[PATH_MAX], self[PATH_MAX];
static size_t root_length;
static int log_file = -1;
static long last_change = -1, changes;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static __thread int is_inside;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CACHED(name) \
  static __typeof__(&name) real; \
  if (!real) real = REAL(name)

__attribute__((visibility("default"))) int chaos_begin(const char *folder, const char *log, long kill_at) {
  root_length = (size_t)snprintf(root, sizeof root, "%s", folder);
  snprintf(log_name, sizeof log_name, "%s", log);
  last_change = kill_at;
  changes = 0;
  if (*log) log_file = REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  else log_file = -2;
  return log_file;
}

__attribute__((constructor)) static void go_on(void) {
  Dl_info found;
  if (dladdr((void *)chaos_begin, &found)) snprintf(self, sizeof self, "%s", found.dli_fname);
  const char *folder = getenv("CHAOS_ROOT"), *log = getenv("CHAOS_LOG");
  if (folder && log) chaos_begin(folder, log, -1);
}

static int is_awake(void) { return log_file != -1 && !is_inside; }

static int is_below(const char *path) {
  return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static int path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static int absolute(int folder, const char *name, char *path) {
  char place[PATH_MAX];
  if (!name) return 0;
  if (*name == '/') {
    snprintf(path, PATH_MAX, "%s", name);
  } else {
    if (folder == AT_FDCWD) {
      if (!getcwd(place, sizeof place)) return 0;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      ssize_t length = readlink(link, place, sizeof place - 1);
      if (length < 0) return 0;
      place[length] = 0;
    }
    snprintf(path, PATH_MAX, "%.2000s/%.2000s", place, name);
  }
  return is_below(path);
}

static void note(uint32_t what, uint64_t file, uint64_t offset, uint64_t size, const char *first,
                 const char *second, const void *data, size_t length) {
  if (log_file < 0) return;
  struct head head = {what, (uint32_t)strlen(first), (uint32_t)strlen(second), 0,
                      file, offset, length, size};
  struct iovec parts[] = {{&head, sizeof head},
                          {(void *)first, head.first_length},
                          {(void *)second, head.second_length},
                          {(void *)data, length}};
  CACHED(writev);
  ssize_t all = (ssize_t)(sizeof head + head.first_length + head.second_length + length);
  if (real(log_file, parts, 4) != all) _exit(99); /* a log that is not whole is none */
}

static uint64_t number_of(int descriptor, uint64_t *size) {
  struct stat found;
  if (fstat(descriptor, &found)) return 0;
  if (size) *size = (uint64_t)found.st_size;
  return found.st_ino;
}

/* Whether this change is the last one, in whose place the process dies. */
static int is_last(void) { return ++changes == last_change; }
static void die(void) { kill(getpid(), SIGKILL); }

/* How much of a write is done all the same: Linux looks for a kill between two pages of it. */
static size_t part_of(uint64_t offset, size_t length) {
  uint64_t end = (offset + length / 2) & ~(uint64_t)4095;
  return end > offset ? end - offset : 0;
}

#define ENTER() (is_inside = 1, pthread_mutex_lock(&one_at_a_time))
#define LEAVE() (pthread_mutex_unlock(&one_at_a_time), is_inside = 0)

/* ---- files that come into being ---- */

static int opened(int folder, const char *name, int flags, mode_t mode, int (*real)(int, const char *, int, ...)) {
  char path[PATH_MAX];
  int changing = flags & (O_CREAT | O_TRUNC);
  if (!is_awake() || !changing || !absolute(folder, name, path)) return real(folder, name, flags, mode);
  ENTER();
  struct stat before;
  int was = !stat(path, &before);
  int changes_it = !was || (flags & O_TRUNC && before.st_size);
  if (changes_it && is_last()) die();
  int descriptor = real(folder, name, flags, mode);
  int kept = errno;
  if (descriptor >= 0 && changes_it) {
    uint64_t file = number_of(descriptor, NULL);
    if (was) note(SIZE, file, 0, 0, path, "", "", 0);
    else note(CREATE, file, 0, 0, path, "", "", 0);
  }
  LEAVE();
  errno = kept;
  return descriptor;
}

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int openat(int folder, const char *name, int flags, ...) { MODE_OF(flags) return opened(folder, name, flags, mode, REAL(openat)); }
int openat64(int folder, const char *name, int flags, ...) { MODE_OF(flags) return opened(folder, name, flags, mode, REAL(openat64)); }
int open(const char *name, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, name, flags, mode, REAL(openat)); }
int open64(const char *name, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, name, flags, mode, REAL(openat64)); }
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode, REAL(openat)); }
int creat64(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode, REAL(openat64)); }

/* ---- bytes ---- */

static void note_bytes(int descriptor, const char *path, uint64_t offset, const void *data, size_t length) {
  note(WRITE, number_of(descriptor, NULL), offset, 0, path, "", data, length);
}

/* What was written without our seeing the bytes is read back, in pieces. */
static void note_read_back(int descriptor, const char *path, uint64_t offset, size_t length) {
  static char piece[1 << 16];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  int file = REAL(open)(link, O_RDONLY | O_CLOEXEC);
  while (length) {
    ssize_t found = pread(file, piece, length < sizeof piece ? length : sizeof piece, (off_t)offset);
    if (found <= 0) _exit(99);
    note(WRITE, number_of(descriptor, NULL), offset, 0, path, "", piece, (size_t)found);
    offset += (uint64_t)found;
    length -= (size_t)found;
  }
  close(file);
}

#define AFTER(descriptor, done) ((uint64_t)lseek(descriptor, 0, SEEK_CUR) - (uint64_t)(done))

ssize_t write(int descriptor, const void *data, size_t length) {
  CACHED(write);
  char path[PATH_MAX];
  if (!is_awake() || !path_of(descriptor, path)) return real(descriptor, data, length);
  ENTER();
  if (is_last()) { real(descriptor, data, part_of((uint64_t)lseek(descriptor, 0, SEEK_CUR), length)); die(); }
  ssize_t done = real(descriptor, data, length);
  int kept = errno;
  if (done > 0) note_bytes(descriptor, path, AFTER(descriptor, done), data, (size_t)done);
  LEAVE();
  errno = kept;
  return done;
}

static ssize_t at_place(int descriptor, const void *data, size_t length, off64_t offset,
                        ssize_t (*real)(int, const void *, size_t, off64_t)) {
  char path[PATH_MAX];
  if (!is_awake() || !path_of(descriptor, path)) return real(descriptor, data, length, offset);
  ENTER();
  if (is_last()) { real(descriptor, data, part_of((uint64_t)offset, length), offset); die(); }
  ssize_t done = real(descriptor, data, length, offset);
  int kept = errno;
  if (done > 0) note_bytes(descriptor, path, (uint64_t)offset, data, (size_t)done);
  LEAVE();
  errno = kept;
  return done;
}

ssize_t pwrite(int d, const void *data, size_t n, off_t at) { return at_place(d, data, n, at, (void *)REAL(pwrite)); }
ssize_t pwrite64(int d, const void *data, size_t n, off64_t at) { return at_place(d, data, n, at, REAL(pwrite64)); }

static ssize_t gathered(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  /* Written one after the other: nobody depends on their being one call. */
  ssize_t all = 0;
  for (int each = 0; each < count; each++) {
    if (!parts[each].iov_len) continue;
    ssize_t done = offset < 0 ? write(descriptor, parts[each].iov_base, parts[each].iov_len)
                              : pwrite64(descriptor, parts[each].iov_base, parts[each].iov_len, offset + all);
    if (done < 0) return all ? all : done;
    all += done;
    if ((size_t)done < parts[each].iov_len) break;
  }
  return all;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  CACHED(writev);
  char path[PATH_MAX];
  if (!is_awake() || !path_of(descriptor, path)) return real(descriptor, parts, count);
  return gathered(descriptor, parts, count, -1);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  CACHED(pwritev);
  char path[PATH_MAX];
  if (!is_awake() || !path_of(descriptor, path)) return real(descriptor, parts, count, offset);
  return gathered(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  CACHED(pwritev64);
  char path[PATH_MAX];
  if (!is_awake() || !path_of(descriptor, path)) return real(descriptor, parts, count, offset);
  return gathered(descriptor, parts, count, offset);
}

static ssize_t sent(int to, int from, off64_t *offset, size_t length, ssize_t (*real)(int, int, off64_t *, size_t)) {
  char path[PATH_MAX];
  if (!is_awake() || !path_of(to, path)) return real(to, from, offset, length);
  ENTER();
  if (is_last()) die();
  ssize_t done = real(to, from, offset, length);
  int kept = errno;
  if (done > 0) note_read_back(to, path, AFTER(to, done), (size_t)done);
  LEAVE();
  errno = kept;
  return done;
}

ssize_t sendfile(int to, int from, off_t *offset, size_t length) { return sent(to, from, offset, length, (void *)dlsym(RTLD_NEXT, "sendfile")); }
ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) { return sent(to, from, offset, length, (void *)dlsym(RTLD_NEXT, "sendfile64")); }

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
  CACHED(copy_file_range);
  char path[PATH_MAX];
  if (!is_awake() || !path_of(to, path)) return real(from, from_at, to, to_at, length, flags);
  ENTER();
  if (is_last()) die();
  uint64_t begin = to_at ? (uint64_t)*to_at : (uint64_t)lseek(to, 0, SEEK_CUR);
  ssize_t done = real(from, from_at, to, to_at, length, flags);
  int kept = errno;
  if (done > 0) note_read_back(to, path, begin, (size_t)done);
  LEAVE();
  errno = kept;
  return done;
}

/* ---- sizes ---- */

#define SIZED(descriptor, call) \
  char path[PATH_MAX]; \
  if (!is_awake() || !path_of(descriptor, path)) return call; \
  ENTER(); \
  if (is_last()) die(); \
  int done = call, kept = errno; \
  uint64_t size = 0, file = number_of(descriptor, &size); \
  if (!done) note(SIZE, file, 0, size, path, "", "", 0); \
  LEAVE(); \
  errno = kept; \
  return done

int ftruncate(int descriptor, off_t length) { CACHED(ftruncate); SIZED(descriptor, real(descriptor, length)); }
int ftruncate64(int descriptor, off64_t length) { CACHED(ftruncate64); SIZED(descriptor, real(descriptor, length)); }
int posix_fallocate(int descriptor, off_t at, off_t length) { CACHED(posix_fallocate); SIZED(descriptor, real(descriptor, at, length)); }
int posix_fallocate64(int descriptor, off64_t at, off64_t length) { CACHED(posix_fallocate64); SIZED(descriptor, real(descriptor, at, length)); }
int fallocate(int descriptor, int mode, off_t at, off_t length) { CACHED(fallocate); SIZED(descriptor, real(descriptor, mode, at, length)); }
int fallocate64(int descriptor, int mode, off64_t at, off64_t length) { CACHED(fallocate64); SIZED(descriptor, real(descriptor, mode, at, length)); }

int truncate(const char *name, off_t length) {
  int descriptor = open(name, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  int done = ftruncate(descriptor, length), kept = errno;
  close(descriptor);
  errno = kept;
  return done;
}

/* ---- onto the disk ---- */

#define SYNCED(descriptor, call) \
  char path[PATH_MAX]; \
  if (!is_awake() || !path_of(descriptor, path)) return call; \
  ENTER(); \
  if (is_last()) die(); \
  int done = call, kept = errno; \
  struct stat found; \
  if (!done && !fstat(descriptor, &found)) \
    note(S_ISDIR(found.st_mode) ? SYNC_FOLDER : SYNC, found.st_ino, 0, (uint64_t)found.st_size, path, "", "", 0); \
  LEAVE(); \
  errno = kept; \
  return done

int fsync(int descriptor) { CACHED(fsync); SYNCED(descriptor, real(descriptor)); }
int fdatasync(int descriptor) { CACHED(fdatasync); SYNCED(descriptor, real(descriptor)); }

/* ---- names ---- */

#define NAMED(what, from_folder, from, to_folder, to, call) \
  char first[PATH_MAX] = "", second[PATH_MAX] = ""; \
  int below = is_awake() ? absolute(from_folder, from, first) | absolute(to_folder, to, second) : 0; \
  if (!below) return call; \
  ENTER(); \
  if (is_last()) die(); \
  struct stat found = {0}; \
  lstat(first, &found); \
  int done = call, kept = errno; \
  if (!done) note(what, found.st_ino, 0, (uint64_t)found.st_size, first, second, "", 0); \
  LEAVE(); \
  errno = kept; \
  return done

int rename(const char *a, const char *b) { CACHED(rename); NAMED(RENAME, AT_FDCWD, a, AT_FDCWD, b, real(a, b)); }
int renameat(int x, const char *a, int y, const char *b) { CACHED(renameat); NAMED(RENAME, x, a, y, b, real(x, a, y, b)); }
int renameat2(int x, const char *a, int y, const char *b, unsigned f) { CACHED(renameat2); NAMED(RENAME, x, a, y, b, real(x, a, y, b, f)); }
int link(const char *a, const char *b) { CACHED(link); NAMED(LINK, AT_FDCWD, a, AT_FDCWD, b, real(a, b)); }
int linkat(int x, const char *a, int y, const char *b, int f) { CACHED(linkat); NAMED(LINK, x, a, y, b, real(x, a, y, b, f)); }
int unlink(const char *a) { CACHED(unlink); NAMED(UNLINK, AT_FDCWD, a, AT_FDCWD, NULL, real(a)); }
int remove(const char *a) { struct stat found; return !lstat(a, &found) && S_ISDIR(found.st_mode) ? rmdir(a) : unlink(a); }
int rmdir(const char *a) { CACHED(rmdir); NAMED(NO_FOLDER, AT_FDCWD, a, AT_FDCWD, NULL, real(a)); }
int unlinkat(int x, const char *a, int f) { CACHED(unlinkat); NAMED((f & AT_REMOVEDIR ? NO_FOLDER : UNLINK), x, a, AT_FDCWD, NULL, real(x, a, f)); }
int mkdir(const char *a, mode_t m) { CACHED(mkdir); NAMED(FOLDER, AT_FDCWD, a, AT_FDCWD, NULL, real(a, m)); }
int mkdirat(int x, const char *a, mode_t m) { CACHED(mkdirat); NAMED(FOLDER, x, a, AT_FDCWD, NULL, real(x, a, m)); }

/* ---- programs that are started ---- */

int execve(const char *program, char *const words[], char *const before[]) {
  CACHED(execve);
  if (log_file < 0) return real(program, words, before);
  static char preload[PATH_MAX + 16], folder[PATH_MAX + 16], log[PATH_MAX + 16];
  static char *after[1024];
  int count = 0;
  for (; before && before[count] && count < 1000; count++) after[count] = before[count];
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", self);
  snprintf(folder, sizeof folder, "CHAOS_ROOT=%s", root);
  snprintf(log, sizeof log, "CHAOS_LOG=%s", log_name);
  after[count] = preload, after[count + 1] = folder, after[count + 2] = log, after[count + 3] = NULL;
  return real(program, words, after);
}
