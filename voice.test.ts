/** Checks comments, messages and documents for words that this project avoids. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = import.meta.dirname
/** This file, which contains the words. */
const OWN = 'voice.test.ts'

/**
 * Words to avoid, each with its replacement. The list finds known mistakes; it cannot tell whether a sentence is good.
 */
const WORDS: readonly [RegExp, string][] = [
  [/\bshall\b/i, 'must, should or will'],
  [/\banew\b/i, 'again'],
  [/\bby (?:it|them|him|her|our)sel(?:f|ves)\b/i, 'automatically, or on its own'],
  [/\bso that\b/i, 'so, or to'],
  [/\b(?:that|which|who) (?:is|are) none\b/i, 'that is not one, or invalid'],
  [/\bno more(?=\s*[.;:,)]|\s*$)/i, 'no longer, or not again'],
  [/(?:^|[.:*/] )(?:Who|Whoever|What|Whatever|Whose)\b(?![^.]*\?)/, 'a noun as the subject'],
  [/(?:^|[.:*/] )So (?:many|much|long|far|often)\b/, 'How many, how much …'],
  [/\bhow-?manieth\b/i, 'how many times before'],
  [/\boffers? (?:that )?stands?\b|\bstanding offer/i, 'an open offer'],
  [/\b(?:is|are|was|were|be) come by\b/i, 'obtained'],
  [/\bof (?:its|their) own accord\b/i, 'automatically'],
  [/\bfor ever\b/i, 'forever'],
  [/\b(?:upon|whereof|thereof|whereby|hitherto|herewith)\b/i, 'on, of which, by which …'],
  [/\bneeds? not\b/i, 'does not have to'],
  [/\b(?:is|are) to be (?=\w+ed\b)/i, 'must be'],
  [/\bby halves\b/i, 'partly'],
  [/\b(?:is|are|was|were) looked for\b/i, 'we look for, or check for'],
  [/\bknows? no\b/i, 'does not know'],
  [/\bsave for\b|\blest\b/i, 'except, or so … does not'],
]

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))

/** Returns a complaint for each word of the list that a line contains: the line's number, the word, its replacement. */
function complaintsOf(text: string): string[] {
  return text.split('\n').flatMap((line, index) =>
    WORDS.flatMap(([word, better]) => {
      const found = word.exec(line)
      return found === null ? [] : [`${index + 1}: "${found[0].trim()}" (${better})`]
    }),
  )
}

describe('the words to avoid', () => {
  it('are in no source and no document', () => {
    const complaints = files
      .filter((file) => file !== OWN && /\.(?:tsx?|m?js|css|md|sql|sh|html|ya?ml)$/.test(file))
      .flatMap((file) =>
        complaintsOf(readFileSync(join(ROOT, file), 'utf8')).map((line) => `${file}:${line}`),
      )
    expect(complaints).toEqual([])
  })

  it.each([
    '// The shopper shall wait.',
    '/** Whoever asks first gets it. */',
    ' * It ends. What leaves already is left alone.',
    '// So many attempts are kept.',
    '/** It works no more. */',
    'the offer stands',
    "'It goes on by itself'",
  ])('are found: %s', (line) => {
    expect(complaintsOf(line)).toHaveLength(1)
  })

  it.each([
    '// Shallow copies will do.',
    '/** What is this? */',
    'so much that 3 no more than 4',
    'the stand offers',
  ])('are not found: %s', (line) => {
    expect(complaintsOf(line)).toEqual([])
  })
})
