/** Marks where long Russian words may be divided, because many browsers have no hyphenation for Russian. Pure. */

const SOFT_HYPHEN = '\u00ad'

/** A shorter word fits the narrowest card. */
const LONG_WORD = /[а-яё]{11,}/gi
/** A hyphen leaves at least this many letters on each side. */
const LEAST_LETTERS = 3

/**
 * The places between two syllables. In the order of the patterns: after й, ь and ъ, between two vowels, inside a pair
 * of consonants, before a single consonant, and inside a group of three or four consonants.
 */
const DIVISIONS = [
  /(?<=[йьъ])(?=[а-яё]{2})/gi,
  /(?<=[аеёиоуыэюя])(?=[аеёиоуыэюя][а-яё])/gi,
  /(?<=[аеёиоуыэюя][б-джзк-нп-тф-щ])(?=[б-джзк-нп-тф-щ][аеёиоуыэюя])/gi,
  /(?<=[б-джзк-нп-тф-щ][аеёиоуыэюя])(?=[б-джзк-нп-тф-щ][аеёиоуыэюя])/gi,
  /(?<=[аеёиоуыэюя][б-джзк-нп-тф-щ])(?=[б-джзк-нп-тф-щ]{2}[аеёиоуыэюя])/gi,
  /(?<=[аеёиоуыэюя][б-джзк-нп-тф-щ]{2})(?=[б-джзк-нп-тф-щ]{2}[аеёиоуыэюя])/gi,
]

/** Steam writes some of its Russian words in lower case. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns the text with soft hyphens, which show only where a line ends. */
export const hyphenated = (text: string): string => text.replace(LONG_WORD, divide)

function divide(word: string): string {
  const places = new Set(
    DIVISIONS.flatMap((division) => [...word.matchAll(division)].map(({ index }) => index)),
  )
  return [...word]
    .map((letter, at) => {
      const hasEnoughLetters = at >= LEAST_LETTERS && at <= word.length - LEAST_LETTERS
      return places.has(at) && hasEnoughLetters ? `${SOFT_HYPHEN}${letter}` : letter
    })
    .join('')
}
