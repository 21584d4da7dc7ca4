import type { TranslationBundle } from '@jupyterlab/translation';

import { PROVIDERS } from '../../generated/wire';

/**
 * What people call a provider: its own name, or what kind it is.
 */
export function providerName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'openai':
      return trans.__('OpenAI compatible');
    case 'local':
      return trans.__('Embedded model');
    default:
      return PROVIDERS[id]?.name ?? id;
  }
}
