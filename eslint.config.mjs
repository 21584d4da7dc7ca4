import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import prettier from 'eslint-plugin-prettier/recommended';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const jupyterCode = {
  'jupyter/command-described-by': 'error',
  'jupyter/command-id-convention': 'error',
  'jupyter/no-dynamic-translation': 'error',
  'jupyter/no-pageconfig-base-url': 'error',
  'jupyter/no-translation-concatenation': 'error',
  'jupyter/no-untranslated-string': 'error',
  'jupyter/plugin-activation-args': 'error',
  'jupyter/plugin-description': 'error',
  'jupyter/plugin-id-convention': 'error',
  // All plugins need the ids of commands at once.
  'jupyter/prefer-lazy-imports': [
    'error',
    { ignoreImports: ['*/ui/commandids'] }
  ],
  'jupyter/require-disposable-ownership': 'error',
  'jupyter/require-disposable-transfer': 'error',
  'jupyter/require-signal-cleanup': 'error',
  'jupyter/token-format': 'error'
};

// Each layer of src/, and what it may import besides itself.
const layers = {
  comm: ['generated', 'listener.ts'],
  state: ['comm', 'errors.ts', 'generated', 'listener.ts'],
  rest: ['comm', 'errors.ts', 'generated', 'listener.ts'],
  ui: ['comm', 'errors.ts', 'generated', 'listener.ts', 'rest', 'state']
};

// Above the layers are the features. Other features may import these files of them, and no others.
const features = {
  ghosttext: [],
  notebook: [
    'cells/cellparts.ts',
    'cells/cellplace.ts',
    'cells/failedcells.ts',
    'pendingmetadata.ts',
    'review/linechanges.ts',
    'whenopened.ts'
  ],
  'panel/asks': [
    'askcontent.ts',
    'asktexts.ts',
    'approval/approvalmenu.tsx',
    'approval/approvals.ts',
    'approval/approvaltexts.ts',
    'approval/keepunasked.ts',
    'autoapproval/autoapprovaldialog.tsx',
    'limittexts.ts',
    'runningcommand.tsx'
  ],
  'panel/changes': [
    'messageactions.tsx',
    'previewchange.ts',
    'restorecheckpoint.ts'
  ],
  'panel/chat': ['filechanges/reviewactions.tsx'],
  'panel/composer': [
    'attachments/attachpart.ts',
    'attachments/attachvariable.ts',
    'attachments/draggedvariable.ts',
    'starterprompts.tsx',
    'suggestions/suggestions.ts'
  ],
  'panel/context': ['condensereport.tsx', 'undocondensebutton.tsx'],
  'panel/documents': ['terminaltext.ts'],
  'panel/firstrun': [],
  'panel/header': [],
  'panel/history': ['usehistory.ts'],
  'panel/localmodel': [
    'localmodeltexts.ts',
    'modelcard.tsx',
    'runtimefacts.tsx',
    'useembedded.ts'
  ],
  'panel/notebookconversation': ['conversationoffer.tsx'],
  'panel/notify': [],
  settings: [],
  timeline: ['checkpointtexts.ts', 'timelinetexts.ts'],
  variables: [],
  verify: []
};

const featureFolders = Object.keys(features).map(name => `./src/${name}`);

const zones = [
  ...Object.entries(layers).map(([name, lower]) => ({
    target: `./src/${name}`,
    from: './src',
    except: [`./${name}`, ...lower.map(one => `./${one}`)],
    message: `src/${name} imports only itself and the layers below it.`
  })),
  ...Object.entries(features).map(([name, shared]) => ({
    target: featureFolders.filter(folder => folder !== `./src/${name}`),
    from: `./src/${name}`,
    except: shared.map(file => `./${file}`),
    message:
      'This file belongs to another feature. Move what both use to src/ui, or list it in eslint.config.mjs.'
  })),
  {
    target: featureFolders,
    from: ['./src/panel/*.{ts,tsx}', './src/commands/**', './src/index.*'],
    message: 'This file puts the features together; none of them imports it.'
  }
];

export default tseslint.config(
  {
    ignores: [
      '.collaboration/',
      '.corpus/',
      '.databases/',
      '.hub/',
      '.gateway/',
      '.lab-4.2/',
      '.programs/',
      '.venv/',
      '.yarn/',
      'build/',
      'coverage/',
      'docs/_build/',
      'hdsp_agent/',
      'labextension/dist/',
      'lib/',
      'node_modules/',
      'src/generated/',
      'ui-tests/playwright-report/',
      'ui-tests/test-results/'
    ]
  },
  { plugins: { jupyter } },
  {
    files: ['**/*.{js,mjs,cjs,ts,tsx}'],
    extends: [js.configs.recommended],
    rules: {
      curly: ['error', 'all'],
      eqeqeq: 'error',
      'no-console': ['error', { allow: ['warn', 'error'] }],
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      // A namespace beside a class holds its options, as everywhere in Jupyter.
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { args: 'none', ignoreRestSiblings: true }
      ]
    }
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeCheckedOnly],
    languageOptions: {
      globals: globals.browser,
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname
      }
    },
    rules: {
      // Safari ends a composition before the key that ended it.
      'no-restricted-properties': [
        'error',
        { property: 'isComposing', message: 'Ask inputmethod.ts.' }
      ],
      // A signal is given the method and its receiver apart.
      '@typescript-eslint/unbound-method': 'off'
    }
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.ts', '.tsx'],
      'import-x/external-module-folders': ['node_modules'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
      'import-x/resolver-next': [
        createNodeResolver({ extensions: ['.ts', '.tsx', '.d.ts', '.js'] })
      ]
    },
    rules: {
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': ['error', { zones }]
    }
  },
  ...jupyter.configs.recommended,
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: jupyterCode
  },
  {
    // What a model or a file says is rendered in one place, which lets nothing be fetched.
    files: ['src/**/*.{ts,tsx}'],
    ignores: [
      'src/**/__tests__/**',
      'src/ui/diagrams/diagramframe.ts',
      'src/ui/markdown/{renderedblocks,sanitizer}.ts',
      'src/ui/texts/renderedoutput.tsx'
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'MemberExpression[property.name=/^(createRenderer|innerHTML|insertAdjacentHTML|outerHTML|srcdoc)$/], JSXAttribute[name.name=/^(dangerouslySetInnerHTML|srcDoc)$/]',
          message: 'Render it with RenderedBlocks, so that nothing is fetched.'
        }
      ]
    }
  },
  {
    // The channel, the panel and what notebooks are open are on from the start, so they load then.
    // So do the commands, which keys and palette need; what they do loads when one is run.
    files: [
      'src/channelplugin.ts',
      'src/commands/commandsplugin.ts',
      'src/ghosttext/ghosttextplugin.ts',
      'src/notebook/notebooksplugin.ts',
      'src/panel/context/contextplugin.ts',
      'src/panel/documents/documentsplugin.ts',
      'src/panel/panelplugin.ts',
      'src/timeline/timelineplugin.ts',
      'src/variables/variablesplugin.ts',
      'src/verify/verifyplugin.ts'
    ],
    rules: { 'jupyter/prefer-lazy-imports': 'off' }
  },
  {
    // Tests open whole panels and notebooks, whatever they are a test of.
    files: ['src/**/__tests__/**'],
    rules: { 'import-x/no-restricted-paths': 'off' }
  },
  {
    // Tests make commands and disposables that nobody but them uses.
    files: ['src/**/__tests__/**'],
    rules: {
      'jupyter/command-described-by': 'off',
      'jupyter/require-disposable-ownership': 'off'
    }
  },
  {
    files: ['**/schema/*.json'],
    rules: { 'jupyter/no-schema-enum': 'error' }
  },
  {
    files: [
      '*.{js,mjs}',
      '{scripts,tests}/**/*.{js,mjs}',
      '{benchmarks,ui-tests}/**/*.{js,mjs,ts}'
    ],
    languageOptions: { globals: globals.node }
  },
  {
    // These drive a browser, and hand it functions to run in a page.
    files: ['{benchmarks,ui-tests}/**/*.{js,mjs,ts}'],
    languageOptions: { globals: globals.browser }
  },
  {
    // Programs of the command line say what they have to say.
    files: ['{benchmarks,scripts,tests}/**/*.mjs'],
    rules: { 'no-console': 'off' }
  },
  {
    files: ['*.js', 'ui-tests/**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
    rules: { '@typescript-eslint/no-require-imports': 'off' }
  },
  prettier
);
