import { expect, test } from 'vitest'
import { slownessOf } from './linear-expression.ts'

const reasonOf = ({ source, flags }: RegExp) => slownessOf(source, flags)

test.each([
  ['plain characters', /abc/],
  ['one loop from the start', /^[a-z]+$/],
  ['a loop at the end, after which nothing can fail', /token=[^&]+/g],
  ['loops with delimiters that none of them reads', /^\d+-[a-z]+-\d+$/],
  ['a loop with a delimiter that it does not read', /<[^<>]*>/g],
  ['a fixed number of repetitions', /\b([0-9a-f]{6})[0-9a-f]{26}\b/g],
  ['a small maximum of repetitions', /\b\w{0,20}token=/gi],
  ['optional parts', /^(?:https?:\/\/)?(?:www\.)?example\.com\/?$/],
  ['a list with a separator', /^\w+(?:,\w+)*$/],
  ['a lookahead of one character', /a(?!b)c/],
  ['a bounded lookbehind', /(?<![.\w])now/],
  ['a loop with two ways that never fails', /^(?:a|a)*/],
  ['alternatives from the start', /^(?:a+b|c+d)$/],
  ['an optional loop at the end, which also reads the letters before it', /eyJ[\w-]*/g],
  ['classes and properties', /[\p{Cc}\u202a-\u202e]/gu],
])('an expression with %s is linear: %s', (_what, expression) => {
  expect(reasonOf(expression)).toBeUndefined()
})

test.each([
  ['a loop in a loop', /^(a+)+$/],
  ['an optional loop in a loop', /^(a*)*b/],
  ['two equal ways in a loop', /^(?:a|a)*$/],
  ['two ways that meet later', /^(?:ab|a|b)+$/],
  ['ways that differ only in case', /^(?:k|\u212a)+$/iu],
])('an expression with %s is exponential: %s', (_what, expression) => {
  expect(reasonOf(expression)).toContain('exponential')
})

test.each([
  ['two loops in succession', /^\s*\s*$/],
  ['two loops with an optional delimiter between', /^\d+,?\d+$/],
  ['loops that share one character', /^[a-m]*[m-z]*!$/],
  ['a loop that the search enters again at each character', /\s+$/],
  ['a delimiter that its own loop reads', /<[^>]*>/g],
  ['three loops separated by dots', /\bey[JA][\w-]{8,}\.[\w-]+\.[\w-]+/g],
  ['a choice of two loops', /<id>\s*(?:<!\[CDATA\[(.*?)\]\]>|([^<]*))\s*<\/id>/s],
  ['a long repetition', /x\w{1,1000}y/],
  ['a lookahead that reads on', /a(?=\w*b)/],
  ['a loop that is tried before an empty match', /(?:a*b)?/g],
  ['a loop in each line', /^.*x$/m],
])('an expression with %s is slow: %s', (_what, expression) => {
  expect(reasonOf(expression)).toContain('into a loop that reads the same')
})

test.each([
  ['a backreference', /(a)\1/],
  ['an unbounded lookbehind', /(?<=a+)b/],
  ['an unbounded lookbehind in a repetition', /(?<=(?:a+){2})b/],
  ['a lookbehind that looks ahead without a bound', /(?<=a(?=b*c))b/],
  ['a backreference in a lookbehind', /^(a+)(?<=\1)b/],
  ['very many positions', /(?:[ab]{60}){60}/],
])('an expression with %s cannot be judged, so it is refused: %s', (_what, expression) => {
  expect(reasonOf(expression)).toBeDefined()
})
