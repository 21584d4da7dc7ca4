const jestJupyterLab = require('@jupyterlab/testutils/lib/jest-config');

const {
  moduleFileExtensions,
  moduleNameMapper,
  resolver,
  setupFiles,
  testEnvironment,
  transform
} = jestJupyterLab(__dirname);

// Packages that come as ES modules only.
const esModules = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@marijn',
  '@microsoft',
  '@rjsf',
  'color',
  'exenv-es6',
  'lib0',
  'marked',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

const shared = {
  rootDir: __dirname,
  roots: ['<rootDir>/src'],
  moduleFileExtensions,
  setupFilesAfterEnv: ['<rootDir>/src/__tests__/quietconsole.ts'],
  transform: {
    ...transform,
    // Types are checked by `jlpm build:lib`, which compiles the tests too.
    '^.+\\.tsx?$': [
      'ts-jest',
      {
        tsconfig: {
          module: 'commonjs',
          target: 'ES2022',
          jsx: 'react',
          esModuleInterop: true,
          isolatedModules: true
        },
        diagnostics: false
      }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!${esModules}).+`]
};

module.exports = {
  collectCoverageFrom: [
    'src/**/*.{ts,tsx}',
    '!src/**/__tests__/**',
    '!src/generated/**'
  ],
  coverageDirectory: 'coverage',
  testTimeout: 60000,
  // Left alone, Jest leaves one processor free: on two, half of the time is lost.
  maxWorkers: '100%',
  projects: [
    // The channel and the store need no page: their tests run in plain Node,
    // where real sockets to a server in the same process are at hand.
    {
      ...shared,
      displayName: 'node',
      testEnvironment: 'node',
      testRegex: 'src/(comm|state)/__tests__/.*\\.spec\\.ts$'
    },
    {
      ...shared,
      displayName: 'page',
      moduleNameMapper: {
        ...moduleNameMapper,
        '^(@jupyter/(react|web)-components|@rjsf/(core|utils))$':
          '<rootDir>/src/__tests__/unusedparts.ts'
      },
      resolver,
      setupFiles,
      testEnvironment,
      testRegex:
        'src/(?!(comm|state)/__tests__/)([^/]+/)*__tests__/.*\\.spec\\.tsx?$'
    }
  ]
};
