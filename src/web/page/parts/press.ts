/** Keys of what is a button, and is drawn by no element that is one. */

/** @returns a listener of key presses: Enter and Space press, as they do on a button, and Space does not scroll. */
export function pressedBy(press: () => void): (event: KeyboardEvent) => void {
  return event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    press();
  };
}
