/**
 * What a sound says.
 */
export type SoundKind = 'needsYou' | 'done';

/**
 * Play a short sound.
 *
 * @param volume - How loud, from 0 to 1.
 *
 * @param name - What it is about. Of several tabs that want to play it at the
 * same time, one does.
 */
export async function playSound(
  kind: SoundKind,
  volume: number,
  name: string
): Promise<void> {
  if (typeof AudioContext !== 'function' || volume <= 0) {
    return;
  }
  const play = () => Private.play(kind, Math.min(volume, 1));
  // Pages that did not come encrypted have no locks.
  const { locks } = navigator as { readonly locks?: LockManager };
  if (!locks) {
    return play();
  }
  await locks.request(
    `hdsp-agent:sound:${name}`,
    { ifAvailable: true },
    async lock => {
      if (lock) {
        await play();
      }
    }
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The pitches of the tones, in hertz: up for a question, down at the end.
   */
  const TONES: Readonly<Record<SoundKind, readonly number[]>> = {
    needsYou: [660, 880],
    done: [880, 660]
  };

  const SECONDS_EACH = 0.18;

  /**
   * Play tones one after the other, and wait until they are over.
   */
  export async function play(kind: SoundKind, volume: number): Promise<void> {
    const context = new AudioContext();
    try {
      const gain = context.createGain();
      gain.gain.value = volume;
      gain.connect(context.destination);
      const begin = context.currentTime;
      const ends = TONES[kind].map((pitch, place) => {
        const tone = context.createOscillator();
        tone.frequency.value = pitch;
        tone.connect(gain);
        tone.start(begin + place * SECONDS_EACH);
        tone.stop(begin + (place + 1) * SECONDS_EACH);
        return new Promise(resolve => {
          tone.addEventListener('ended', resolve);
        });
      });
      if (context.state === 'suspended') {
        // The browser lets no page be heard that nobody has used yet.
        await context.resume();
      }
      await Promise.all(ends);
    } finally {
      await context.close();
    }
  }
}
