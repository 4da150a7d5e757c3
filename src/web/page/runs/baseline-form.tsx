/** Names a run, or the present results, as a baseline: a file of the project for later comparisons. */
import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { asApiError } from '../api/use-data.js';
import { Problem } from '../parts/notice.js';

interface FormProps {
  /** "r41" or "now". */
  readonly of: string;
  readonly baselines: readonly string[];
}

export function BaselineForm({ of, baselines }: FormProps) {
  const [name, setName] = useState('');
  const [said, setSaid] = useState<{ readonly path?: string; readonly problem?: string }>({});
  const isKnown = baselines.includes(name);
  const save = (event: Event): void => {
    event.preventDefault();
    post<{ readonly path: string }>('baseline', { of, name, replace: isKnown }).then(
      ({ path }) => setSaid({ path }),
      (error: unknown) => {
        // The server's rule for names is the only one: its answer says what a name has.
        const { message, help } = asApiError(error);
        setSaid({ problem: help === undefined ? message : `${message}: ${help}` });
      },
    );
  };
  return (
    <form class="tools" onSubmit={save}>
      <label>
        Save {of} as baseline{' '}
        <input
          type="text"
          size={16}
          value={name}
          onInput={event => {
            setName(event.currentTarget.value);
            setSaid({});
          }}
        />
      </label>
      <button type="submit" disabled={name === ''}>
        {isKnown ? 'Replace the baseline' : 'Save'}
      </button>
      {said.path !== undefined && <span class="good">✓ written: {said.path}</span>}
      <Problem text={said.problem} />
    </form>
  );
}
