import { galata } from '@jupyterlab/galata';
import { defineConfig } from '@playwright/test';

import config from './playwright.config';

interface ITestOptions {
  mockSettings: Record<string, unknown>;
}

interface IOptions {
  isCollaborative: boolean;
  installedIn: string;
}

// JupyterLab 4.2 has no consoles where this is set, which it does not know.
const { '@jupyterlab/console-extension:tracker': _, ...mockSettings } =
  galata.DEFAULT_SETTINGS;

/**
 * What is done at a cell, in other surroundings than the stories': in notebooks
 * that are shared in real time, in a narrow window, and in the oldest JupyterLab.
 */
export default defineConfig<ITestOptions, IOptions>(config, {
  testMatch: [
    'cellactions.spec.ts',
    'feedback.spec.ts',
    'ghosttext.spec.ts',
    'pointing.spec.ts',
    'variables.spec.ts',
    'verify.spec.ts'
  ],
  projects: [
    { name: 'shared', use: { isCollaborative: true } },
    {
      name: 'narrow',
      // There Lab hides what is in a cell's corner: the first story opens it.
      grepInvert: /by a menu at it and by the keyboard/,
      use: { viewport: { width: 760, height: 700 } }
    },
    {
      name: 'lab-4.2',
      use: { installedIn: '.lab-4.2', mockSettings }
    }
  ]
});
