/**
 * Regular expressions that some texts make slow: family 28. `slownessOf`, which a test runs on every expression of the
 * sources, must refuse them.
 */
import { slownessOf } from '../../../scripts/linear-expression.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const CHECK = 'scripts/linear-expression.ts'

/** Expressions that take exponential time: known ones from public advisories, and variants. */
const EXPONENTIAL = [
  '^(a+)+$',
  '^(a*)*$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(?:ab|a|b)+$',
  '^([a-z]+)*$',
  '^(\\w+\\s?)*$',
  '^(\\d+)*x$',
  '^((a+)b?)*$',
  '^(a?b?)*c',
  '^(?:x+x+)+y',
  '^(\\w|_)+$',
  '^([^=]|[^;])*=',
  '^(.|\\s)+!$',
  '^(?:[a-f]|[c-z])+$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^(([a-z0-9]+)*-?)+$',
  '^(?:\\.?\\w+)*@',
  '^(-+|\\s+)*$',
]
/** Expressions that take quadratic time. */
const QUADRATIC = [
  '\\s+$',
  '\\s*,',
  'a*b',
  '<[^>]*>',
  '\\w+@',
  '\\d+%',
  '^\\s*\\s*$',
  '^\\d+,?\\d+$',
  '^.*.*x',
  '\\.+\\s*$',
  '=+\\w',
  '^[a-m]*[m-z]*!$',
  '-+>',
  '\\/\\/.*\\n',
  '\\{[^}]*\\}',
  '\\([^)]*\\)',
  '\\[[^\\]]*\\]',
  'x\\w{1,1000}y',
  'a(?=\\w*b)',
  '[\\w.]+:',
  '#.*;',
  '\\bey[\\w-]+\\.[\\w-]+',
  '0*1',
  '(?:a|b)+c',
  '[^/]+\\/x',
]
/** Expressions with syntax that the check cannot judge. */
const UNJUDGED = ['(a)\\1', '(?<=a+)b', '(?:[ab]{60}){60}', '(?<n>a)\\k<n>', '(?<!\\w+)x']

type Defence = 'no ambiguous loop' | 'no loop that continues another' | 'no syntax that cannot be judged'

const caseOf =
  (stoppedBy: Defence) =>
  (pattern: string): Case<Defence> => ({
    what: `/${pattern}/`,
    stoppedBy,
    attack: () => problemIf(slownessOf(pattern, '') === undefined, 'passes the check'),
  })

export const expressions: Family = family<Defence>({
  number: 28,
  name: 'slow regular expressions',
  kind: 'parts',
  defences: {
    'no ambiguous loop': {
      at: `${CHECK} findSlowWay`,
      off: [
        {
          file: CHECK,
          from: 'if (hasTwoWaysAround(loop)) return',
          to: 'if (hasTwoWaysAround(loop)) return undefined\n    else if (false) return',
        },
      ],
    },
    'no loop that continues another': {
      at: `${CHECK} findSlowWay`,
      off: [
        {
          file: CHECK,
          from: 'if (first !== second && canReach(first, second) && leadsInto(first, second))',
          to: 'if (false)',
        },
      ],
    },
    'no syntax that cannot be judged': {
      at: `${CHECK} slownessOf`,
      off: [
        {
          file: CHECK,
          from: 'if (error instanceof NotJudged) return error.message',
          to: 'if (error instanceof NotJudged) return undefined',
        },
      ],
    },
  },
  honest: () => problemIf(slownessOf('^[a-z]+$', '') !== undefined, 'a linear expression is refused'),
  cases: () => [
    ...EXPONENTIAL.map(caseOf('no ambiguous loop')),
    ...QUADRATIC.map(caseOf('no loop that continues another')),
    ...UNJUDGED.map(caseOf('no syntax that cannot be judged')),
  ],
})
