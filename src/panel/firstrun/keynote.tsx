import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { KeyCheckView, SetupCandidateView } from '../../generated/rest';
import { usePanel } from '../../ui/services';

/**
 * Whose key was tried.
 */
export type TriedKey =
  | { readonly kind: 'typed' | 'none' | 'operator' }
  | { readonly kind: 'environment'; readonly variable: string };

/**
 * What a provider said to a key, and what to do; nothing where all is well or
 * nobody knows.
 */
export function KeyNote({
  check,
  provider,
  tried
}: {
  check: KeyCheckView | null;

  /**
   * What the provider is called.
   */
  provider: string;
  tried: TriedKey;
}): JSX.Element | null {
  const { trans } = usePanel();
  const text =
    check?.verdict === 'refused'
      ? refusedText(check, provider, tried, trans)
      : check?.verdict === 'unreachable'
        ? unreachableText(check, provider, tried, trans)
        : null;
  return text === null ? null : (
    <p className="jp-hdspAgent-problem" role="alert">
      {text}
    </p>
  );
}

/**
 * Whose key a candidate comes with; `null` if it needs none.
 */
export function keyOf({ kind, variable }: SetupCandidateView): TriedKey | null {
  switch (kind) {
    case 'environment':
      return { kind, variable: variable ?? '' };
    case 'operator':
      return { kind };
    case 'local':
      return null;
  }
}

function refusedText(
  { kind }: KeyCheckView,
  provider: string,
  tried: TriedKey,
  trans: TranslationBundle
): string {
  if (tried.kind === 'environment') {
    return trans.__(
      '%1 does not accept the key in the environment variable %2. Start the server with a valid one, or go back and use another provider.',
      provider,
      tried.variable
    );
  }
  if (tried.kind === 'operator') {
    return trans.__(
      "%1 does not accept your administrator's key. Tell them, or go back and use another provider.",
      provider
    );
  }
  if (tried.kind === 'none') {
    return trans.__('%1 requires an API key. Enter one.', provider);
  }
  return kind === 'permission'
    ? trans.__(
        '%1 knows this key, but does not let it use models. Allow that at %1, or enter another key.',
        provider
      )
    : trans.__(
        '%1 does not accept this key. Check that it is the right one and was copied completely. If so, create a new one there.',
        provider
      );
}

function unreachableText(
  { kind }: KeyCheckView,
  provider: string,
  tried: TriedKey,
  trans: TranslationBundle
): string {
  const what =
    kind === 'timeout'
      ? trans.__('%1 did not answer in time.', provider)
      : kind === 'overloaded'
        ? trans.__('%1 does not work right now.', provider)
        : trans.__('%1 could not be reached.', provider);
  const next =
    tried.kind === 'typed'
      ? trans.__("The key couldn't be checked. Try again, or save it anyway.")
      : tried.kind === 'none'
        ? trans.__(
            'Check the address, and whether the server runs there. Then try again, or save it anyway.'
          )
        : trans.__("The key couldn't be checked.");
  return `${what} ${next}`;
}
