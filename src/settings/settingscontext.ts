import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IDialogs } from '../ui/dialogs';
import type { SettingsModel } from './data/settingsmodel';

/**
 * What every part of the settings panel works with.
 */
export interface ISettingsContext {
  readonly model: SettingsModel;
  readonly trans: TranslationBundle;
  readonly dialogs: IDialogs;

  /**
   * Have a screen reader say something.
   */
  readonly announce: (text: string) => void;

  /**
   * Show a conversation; `null` where there is no panel for it.
   */
  readonly openConversation: ((taskId: string) => void) | null;
}

const Context = React.createContext<ISettingsContext | null>(null);

/**
 * Gives the parts of the panel what they work with.
 */
export const SettingsProvider = Context.Provider;

/**
 * What the panel works with.
 */
export function useSettings(): ISettingsContext {
  const context = React.useContext(Context);
  if (context === null) {
    throw new Error('A part of the settings panel was used outside of it.');
  }
  return context;
}
