import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Something to begin with.
 */
export interface IStarterPrompt {
  /**
   * What the person chooses by.
   */
  readonly label: string;

  /**
   * What is put into the field, to be sent or changed.
   */
  readonly text: string;
}

/**
 * What people who work with data begin with.
 *
 * @param hasNotebook - Whether a conversation would work on a notebook.
 */
export function starterPrompts(
  trans: TranslationBundle,
  hasNotebook: boolean
): readonly IStarterPrompt[] {
  return hasNotebook ? Private.ofNotebook(trans) : Private.ofNoNotebook(trans);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function ofNotebook(trans: TranslationBundle): IStarterPrompt[] {
    return [
      {
        label: trans.__('Explain this notebook'),
        text: trans.__(
          'Explain what this notebook does, step by step, and point out what looks wrong or fragile. Change nothing.'
        )
      },
      {
        label: trans.__('Make it run from top to bottom'),
        text: trans.__(
          'Run this notebook from top to bottom. Where a cell fails, find out why and fix it.'
        )
      },
      {
        label: trans.__('Check the data'),
        text: trans.__(
          'Check the data in this notebook for missing values, duplicates, outliers and wrong types. Show what you find in new cells at the end.'
        )
      },
      {
        label: trans.__('Draw the most useful plots'),
        text: trans.__(
          'Look at the data in this notebook and draw the three plots that show most about it. Under each, explain what it shows.'
        )
      },
      {
        label: trans.__('Tidy it up for others'),
        text: trans.__(
          'Tidy this notebook up so that others can read it: headings, short explanations, clear names, nothing unused. Its results must stay the same.'
        )
      }
    ];
  }

  export function ofNoNotebook(trans: TranslationBundle): IStarterPrompt[] {
    return [
      {
        label: trans.__('See what is here'),
        text: trans.__(
          'Look at the files here and tell me what they are about and where to start. Change nothing.'
        )
      },
      {
        label: trans.__('Explore a data file'),
        text: trans.__(
          'Create a notebook that loads a data file, shows what is in it and draws the plots that show most about it. If there is more than one data file here, ask me which one.'
        )
      },
      {
        label: trans.__('Train a first model'),
        text: trans.__(
          'Create a notebook that trains a simple model on the data here, tests it on data it has not seen, and says how good it is. Ask me what to predict.'
        )
      },
      {
        label: trans.__('Turn a script into a notebook'),
        text: trans.__(
          'Turn a Python script of this folder into a notebook with one step in each cell and short explanations. Ask me which script.'
        )
      }
    ];
  }
}
