const MIB = 1024 * 1024;

/**
 * Bytes that video files leave free, because the database may be on the same disk and stops when it is full: 10 %, at
 * least 48 MiB (three WAL segments of PostgreSQL), at most 1 GiB, and never more than half of the disk.
 */
export function diskReserveBytes(diskBytes: number): number {
  return Math.min(Math.max(diskBytes * 0.1, 48 * MIB), 1024 * MIB, diskBytes / 2);
}
