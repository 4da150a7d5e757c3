/** A few rounds of damaged ONNX files. */
import { describeFuzz } from '../../../support/fuzz-suite.js';

describeFuzz(25);
