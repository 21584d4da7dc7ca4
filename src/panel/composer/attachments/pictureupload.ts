/**
 * How many pictures go along with one message.
 */
export const MOST_IMAGES = 20;

/**
 * How much of the largest request the pictures of a message may be; the rest is
 * for its words.
 */
export const PICTURES_SHARE = 0.9;

/**
 * How large, in bytes, a picture is sent as it is. A larger one is scaled down:
 * models do so anyway, and at least eight are to fit one message.
 */
const MOST_BYTES = 700_000;

/**
 * How large, in bytes, a picture may be at all.
 */
export const LARGEST_BYTES = 50_000_000;

/**
 * The lengths of the longer side that are tried, in pixels, one after the other.
 */
const SIDES = [2048, 1568, 1024, 768];

/**
 * A picture as a data URL, scaled down if it is large.
 *
 * @returns `null` if it cannot be read, or stays too large.
 */
export async function readPicture(file: Blob): Promise<string | null> {
  return file.size <= MOST_BYTES
    ? Private.asDataUrl(file)
    : Private.scaledDown(file);
}

/**
 * The same of a picture that is a data URL already.
 */
export async function shrinkPicture(url: string): Promise<string | null> {
  const comma = url.indexOf(',');
  const data = url.slice(comma + 1);
  if (data.length * 0.75 <= MOST_BYTES) {
    return url;
  }
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(atob(data), unit => unit.charCodeAt(0));
  } catch {
    return null;
  }
  const type = url.slice('data:'.length, url.indexOf(';'));
  return readPicture(new Blob([bytes], { type }));
}

/**
 * A namespace for private data.
 */
namespace Private {
  export async function asDataUrl(file: Blob): Promise<string | null> {
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch {
      // It was moved or deleted since it was chosen.
      return null;
    }
    let units = '';
    for (let start = 0; start < bytes.length; start += CHUNK) {
      units += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
    }
    return `data:${file.type};base64,${btoa(units)}`;
  }

  /**
   * How many arguments a function takes in every browser.
   */
  const CHUNK = 0x8000;

  export async function scaledDown(file: Blob): Promise<string | null> {
    let bitmap: ImageBitmap;
    try {
      bitmap = await createImageBitmap(file);
    } catch {
      return null;
    }
    try {
      for (const side of SIDES) {
        const smaller = await drawn(bitmap, side);
        if (smaller && smaller.size <= MOST_BYTES) {
          return await asDataUrl(smaller);
        }
      }
      return null;
    } finally {
      bitmap.close();
    }
  }

  /**
   * Drawn on white as JPEG, which is the smallest every browser writes.
   */
  function drawn(bitmap: ImageBitmap, side: number): Promise<Blob | null> {
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const context = canvas.getContext('2d');
    if (!context) {
      return Promise.resolve(null);
    }
    context.fillStyle = 'white';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return new Promise(resolve => canvas.toBlob(resolve, 'image/jpeg', 0.85));
  }
}
