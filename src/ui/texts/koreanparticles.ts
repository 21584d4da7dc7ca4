/**
 * A text with the particles that suit the Hangul or the number before them. Behind
 * anything else, such as the name of a file, both forms stay: how it is read
 * aloud nobody knows.
 */
export function withSuitedParticles(text: string): string {
  return text.replace(
    Private.BOTH_FORMS,
    (all, before: string, quotes: string, both: string) => {
      const ending = Private.endingOf(before);
      return ending === null
        ? all
        : before + quotes + Private.PARTICLES[both](ending);
    }
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * How a word ends when it is read: in a vowel, in ㄹ, or in another consonant.
   */
  type Ending = 'vowel' | 'rieul' | 'consonant';

  export const PARTICLES: Readonly<Record<string, (ending: Ending) => string>> =
    {
      '을(를)': ending => (ending === 'vowel' ? '를' : '을'),
      '이(가)': ending => (ending === 'vowel' ? '가' : '이'),
      '은(는)': ending => (ending === 'vowel' ? '는' : '은'),
      '과(와)': ending => (ending === 'vowel' ? '와' : '과'),
      '(으)로': ending => (ending === 'consonant' ? '으로' : '로')
    };

  const FORMS = Object.keys(PARTICLES)
    .map(both => both.replace(/[()]/g, '\\$&'))
    .join('|');

  export const BOTH_FORMS = new RegExp(`([가-힣0-9])(["”’)]*)(${FORMS})`, 'gu');

  /**
   * The Korean readings of 0 to 9: 영, 일, 이, 삼, 사, 오, 육, 칠, 팔, 구. Those
   * of 10, 100 and on end in a consonant, as that of 0 does.
   */
  const DIGITS: readonly Ending[] = [
    'consonant',
    'rieul',
    'vowel',
    'consonant',
    'vowel',
    'vowel',
    'consonant',
    'rieul',
    'rieul',
    'vowel'
  ];

  const FIRST_SYLLABLE = 0xac00;
  const FINALS = 28;
  const RIEUL = 8;

  export function endingOf(character: string): Ending | null {
    const digit = '0123456789'.indexOf(character);
    if (digit >= 0) {
      return DIGITS[digit];
    }
    const final = (character.charCodeAt(0) - FIRST_SYLLABLE) % FINALS;
    return final === 0 ? 'vowel' : final === RIEUL ? 'rieul' : 'consonant';
  }
}
