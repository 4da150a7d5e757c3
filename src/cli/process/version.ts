/** The version of Tanren. */

/** Equal to the version in package.json; a test checks this. */
export const VERSION = '0.2.0';
