/** Timing of the steps of a detection. The caller supplies the clock. */

/**
 * Runs one step and returns its result. A step that returns a promise ends when the promise settles. Steps do not nest, and may run several times. Names: `decode`, `transform`, the name of a part that runs, `proposals`, `roi-align`, `detections`, `masks`, `paste`, `encode`.
 */
export type Measure = <T>(step: string, work: () => T) => T;

/** Does not measure. */
export const unmeasured: Measure = (_step, work) => work();

export interface StepTime {
  readonly step: string;
  readonly ms: number;
  /** Number of runs. */
  readonly runs: number;
}

export interface Stopwatch {
  readonly measure: Measure;
  /** Times since the previous call, in the order of the first run of each step. */
  take(): readonly StepTime[];
}

/** @param now milliseconds from an arbitrary start. */
export function makeStopwatch(now: () => number): Stopwatch {
  let times = new Map<string, { ms: number; runs: number }>();
  const begin = (step: string): (() => void) => {
    const own = times.get(step) ?? { ms: 0, runs: 0 };
    times.set(step, own);
    const start = now();
    return () => {
      own.ms += now() - start;
      own.runs++;
    };
  };
  const measure: Measure = (step, work) => {
    const end = begin(step);
    const result = work();
    if (!(result instanceof Promise)) {
      end();
      return result;
    }
    // The caller gets the same promise, and handles its rejection.
    void result.then(end, () => undefined);
    return result;
  };
  return {
    measure,
    take() {
      const taken = [...times].map(([step, { ms, runs }]) => ({ step, ms, runs }));
      times = new Map();
      return taken;
    },
  };
}
