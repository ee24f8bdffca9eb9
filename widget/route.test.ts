import { expect, it } from 'vitest'
import { helpIn, languageIn, routeOf } from './route.ts'

const HASH = '0123456789abcdef0123456789abcdef'

it.each([
  ['/', { screen: 'landing' }],
  ['/help', { screen: 'help' }],
  ['/help/', { screen: 'help' }],
  ['/home', { screen: 'home' }],
  [`/deposit/${HASH}`, { screen: 'deposit', hash: HASH }],
  [`/deposit/${HASH}/`, { screen: 'deposit', hash: HASH }],
  [`/${HASH}`, { screen: 'deposit', hash: HASH }],
  ['/deposit/not-a-hash', { screen: 'deposit', hash: 'not-a-hash' }],
  ['/deposit', { screen: 'notFound' }],
  ['/deposit/a/b', { screen: 'notFound' }],
  [`/${HASH}0`, { screen: 'notFound' }],
  [`/${'g'.repeat(32)}`, { screen: 'notFound' }],
  ['/toString', { screen: 'notFound' }],
  ['/nothing/here', { screen: 'notFound' }],
])('A-001 A-002 A-003 A-120 the path %s leads to its screen', (path, route) => {
  expect(routeOf(path)).toEqual(route)
})

it.each(['en', 'ru'] as const)('the link to help contains the language %s', (language) => {
  const { pathname, search } = new URL(helpIn(language), 'https://till.example')
  expect(routeOf(pathname)).toEqual({ screen: 'help' })
  expect(languageIn(search)).toBe(language)
})

it.each(['', '?language=', '?language=de', '?lang=ru'])('the query %j asks for no language', (search) => {
  expect(languageIn(search)).toBeNull()
})
