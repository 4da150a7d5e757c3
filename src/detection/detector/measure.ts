/** How long does each step of detecting take? Steps are done through `Measure`; who times them brings the clock. */

/**
 * Does one step's work and gives what it gives; a promise is the step's end when it settles. Steps stand side by side, not in each other, and may be done
 * several times. Names: `decode`, `transform`, the part's where one is run, `proposals`, `roi-align`, `detections`, `masks`, `paste`, `encode`.
 */
export type Measure = <T>(step: string, work: () => T) => T;

/** Times nothing. */
export const unmeasured: Measure = (_step, work) => work();

export interface StepTime {
  readonly step: string;
  readonly ms: number;
  /** How often it was done. */
  readonly runs: number;
}

export interface Stopwatch {
  readonly measure: Measure;
  /** What was measured since the last time, by the first use of each step. */
  take(): readonly StepTime[];
}

/** @param now milliseconds, from any start. */
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
    // The same promise to whoever waits: that it is looked at changes nothing.
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
