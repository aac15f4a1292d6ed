import { fileURLToPath } from 'node:url';

/** The cameras of `TRUCK-7`, whose recordings lie beside this file; how they were made is told in their README. */
export const DEMO_CAMERAS = ['front', 'rear'] as const;

/**
 * Path of the film that shows a camera in the minute that begins at `start`. There are ten a camera: the clock in the
 * picture reads the last digit of the minute and the seconds.
 */
export function demoRecording(camera: (typeof DEMO_CAMERAS)[number], start: Date): string {
  return fileURLToPath(new URL(`recordings/${camera}-${start.getUTCMinutes() % 10}.mp4`, import.meta.url));
}
