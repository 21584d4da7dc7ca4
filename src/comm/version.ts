// Both src/comm and lib/comm are two folders below package.json; an import
// would make TypeScript copy it into lib.
declare const require: (path: '../../package.json') => {
  readonly version: string;
};

/**
 * The version of this page: the one in package.json, like the server's.
 */
export const pageVersion: string = require('../../package.json').version;
