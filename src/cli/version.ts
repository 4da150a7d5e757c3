/** Which version is this? */

/** Equal to package.json's: a test holds it. */
export const VERSION = '0.1.0';
