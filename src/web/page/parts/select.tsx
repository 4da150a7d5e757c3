/** Labeled fields: a choice of one value, and a filter of names. */
import type { ComponentChildren } from 'preact';

interface SelectProps {
  readonly label: ComponentChildren;
  /** Name of a value that is shown; '' if none is chosen. */
  readonly value: string;
  /** Values, or values with other texts. */
  readonly choices: readonly (string | readonly [value: string, text: string])[];
  /** Text of the choice of no value; without it, there is no such choice. */
  readonly none?: string;
  readonly pick: (value: string) => void;
}

/** @remarks `pick` gets '' for the choice of no value. */
export function Select({ label, value, choices, none, pick }: SelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={event => pick(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {choices.map(choice => {
          const [name, text] = typeof choice === 'string' ? [choice, choice] : choice;
          return (
            <option key={name} value={name}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

interface FilterProps {
  /** What is filtered, in the plural. */
  readonly what: string;
  readonly hint: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

export function FilterField({ what, hint, value, set }: FilterProps) {
  return (
    <label class="filter">
      <span class="sr">Filter {what}</span>
      <input type="search" placeholder={hint} value={value} onInput={event => set(event.currentTarget.value)} />
    </label>
  );
}
