/** The log of a stage's last run; while the stage runs, it is read again and again. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { address, getJson } from '../api/client.js';
import { changes } from '../api/live.js';
import { useStore } from '../api/store.js';
import { asApiError } from '../api/use-data.js';
import { Empty } from '../parts/notice.js';
import { logText } from '../parts/text.js';

const LOOK_MS = 500;

export function StageLog({ stage, isRunning }: { readonly stage: string; readonly isRunning: boolean }) {
  const change = useStore(changes);
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    const look = (): void => {
      getJson<{ text: string }>(address('log', { id: stage }), controller.signal).then(
        answer => {
          setText(answer.text);
          setProblem(undefined);
        },
        (error: unknown) => !controller.signal.aborted && setProblem(asApiError(error).message),
      );
    };
    look();
    const timer = isRunning ? setInterval(look, LOOK_MS) : undefined;
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [stage, isRunning, change]);
  useEffect(() => {
    if (isRunning && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text, isRunning]);
  return (
    <section>
      <h3>Log{isRunning ? ', live' : ' of the last run'}</h3>
      {problem !== undefined ? <p class="bad">{problem}</p> : text === '' ? <Empty>Nothing was written.</Empty> : null}
      {text !== undefined && text !== '' && (
        <pre class="log" ref={box} tabIndex={0} aria-label={`Log of ${stage}`}>
          {logText(text)}
        </pre>
      )}
    </section>
  );
}
