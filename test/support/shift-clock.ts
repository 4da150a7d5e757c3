/** Loaded by `node --import` before a program, moves the clock of that process by CLOCK_SHIFT_MS. Times of files stay the system's. */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const realNow = Date.now;
const RealDate = Date;

Date.now = () => realNow() + shiftMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => (args.length === 0 ? new target(Date.now()) : Reflect.construct(target, args)),
}) as DateConstructor;
