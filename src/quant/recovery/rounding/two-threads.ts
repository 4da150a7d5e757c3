/** The session of products that two threads share. */
import { CAPTURE_SESSION } from '../../../runtime/capture/capture.js';

/**
 * Sums are not split over threads, and their number is fixed: the bits are the same on every machine of a platform class.
 * A thread that waits sleeps: between two products this process has other work for both processors.
 */
export const TWO_THREADS = { ...CAPTURE_SESSION, threads: 2, waiting: 'sleeping' } as const;
