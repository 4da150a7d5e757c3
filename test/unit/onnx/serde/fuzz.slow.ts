import { describeFuzz } from '../../../support/fuzz-suite.js';

describeFuzz(400);
