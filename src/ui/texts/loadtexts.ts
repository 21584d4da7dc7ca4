import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';

import { language } from './formats';
import { withSuitedParticles } from './koreanparticles';

/**
 * The texts of this extension. Where a Korean one holds a particle in both its
 * forms behind a value, it gets the form that suits the value.
 */
export function loadTexts(translator: ITranslator): TranslationBundle {
  return new Proxy(translator.load('hdsp_agent'), {
    get(bundle, name) {
      const member: unknown = Reflect.get(bundle, name);
      return typeof member === 'function'
        ? (...said: unknown[]) => suited(Reflect.apply(member, bundle, said))
        : member;
    }
  });
}

function suited(text: unknown): unknown {
  return typeof text === 'string' && language()?.startsWith('ko') === true
    ? withSuitedParticles(text)
    : text;
}
