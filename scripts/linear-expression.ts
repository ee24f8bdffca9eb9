/**
 * Decides whether a regular expression takes linear time for every text. The expression becomes an automaton, in which
 * each position reads one character. Backtracking is slow if the number of ways to read a text grows with its length
 * and each way can still fail. Two causes exist: two ways around one loop, or a way from a loop into another that reads
 * the same characters.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp'

/**
 * A repetition with more optional rounds than this counts as endless, because it takes too long to read a long text
 * so many times.
 */
const MOST_TIMES = 64
/** An expression with more positions is not judged, because the search for slow ways would take too long. */
const MOST_POSITIONS = 1_500

/**
 * `next` lists a position once for each way to it. `sure` contains the positions after which the whole expression
 * has matched.
 */
type Automaton = { reads: bigint[]; next: number[][]; sure: Set<number> }

/**
 * A part of an expression: the positions that can read its first and last character. `sureLast` leaves out those
 * after which an assertion can fail. `mayBeEmpty`: the part can match the empty text; `surelyEmpty`: no assertion can
 * prevent that.
 */
type Part = { first: number[]; last: number[]; sureLast: number[]; mayBeEmpty: boolean; surelyEmpty: boolean }

const NOTHING: Part = { first: [], last: [], sureLast: [], mayBeEmpty: true, surelyEmpty: true }
/** An assertion, which reads nothing and can stop the match. */
const CONDITION: Part = { ...NOTHING, surelyEmpty: false }

/** Returns why the expression is not linear or cannot be judged; undefined if it is linear. */
export function slownessOf(pattern: string, flags: string): string | undefined {
  const builder = createBuilder(flags)
  try {
    const { alternatives } = new RegExpParser().parseLiteral(`/${pattern}/${flags}`).pattern
    const whole = builder.either(alternatives)
    const isAnchored = flags.includes('y') || (!flags.includes('m') && alternatives.every(beginsAtStart))
    return findSlowWay(builder.automaton(whole, isAnchored))
  } catch (error) {
    if (error instanceof NotJudged) return error.message
    throw error
  }
}

class NotJudged extends Error {}

function beginsAtStart({ elements }: AST.Alternative): boolean {
  const [first] = elements
  if (first?.type === 'Group' || first?.type === 'CapturingGroup')
    return first.alternatives.every(beginsAtStart)
  return first?.type === 'Assertion' && first.kind === 'start'
}

const oneOf = (parts: readonly Part[]): Part => ({
  first: parts.flatMap(({ first }) => first),
  last: parts.flatMap(({ last }) => last),
  sureLast: parts.flatMap(({ sureLast }) => sureLast),
  mayBeEmpty: parts.some(({ mayBeEmpty }) => mayBeEmpty),
  surelyEmpty: parts.some(({ surelyEmpty }) => surelyEmpty),
})

function createBuilder(flags: string) {
  const readBy = characterReader(flags)
  const [reads, next]: [bigint[], number[][]] = [[], []]

  const position = (characters: bigint): Part => {
    if (reads.length >= MOST_POSITIONS) throw new NotJudged('is too long to be judged')
    const at = reads.push(characters) - 1
    next.push([])
    return { first: [at], last: [at], sureLast: [at], mayBeEmpty: false, surelyEmpty: false }
  }
  const link = (from: readonly number[], to: readonly number[]): void => {
    for (const each of from) next[each]?.push(...to)
  }
  const chain = (left: Part, right: Part): Part => {
    link(left.last, right.first)
    return {
      first: [...left.first, ...(left.mayBeEmpty ? right.first : [])],
      last: [...right.last, ...(right.mayBeEmpty ? left.last : [])],
      sureLast: [...right.sureLast, ...(right.surelyEmpty ? left.sureLast : [])],
      mayBeEmpty: left.mayBeEmpty && right.mayBeEmpty,
      surelyEmpty: left.surelyEmpty && right.surelyEmpty,
    }
  }
  const either = (alternatives: readonly AST.Alternative[]): Part =>
    oneOf(alternatives.map(({ elements }) => elements.map(partOf).reduce(chain, NOTHING)))

  const quantifierPart = ({ element, min, max }: AST.Quantifier): Part => {
    const isEndless = max - min > MOST_TIMES
    const needed = Array.from({ length: min }, () => partOf(element))
    if (isEndless) {
      const loop = needed.pop() ?? partOf(element)
      link(loop.last, loop.first)
      return [...needed, min === 0 ? oneOf([loop, NOTHING]) : loop].reduce(chain, NOTHING)
    }
    let optional = NOTHING
    for (let more = min; more < max; more += 1) optional = oneOf([chain(partOf(element), optional), NOTHING])
    return [...needed, optional].reduce(chain, NOTHING)
  }
  const assertionPart = (assertion: AST.Assertion): Part => {
    refuseUnboundedLookbehind(assertion)
    // The text of a lookahead leads to a position that reads nothing. The match continues from where it began.
    if (assertion.kind === 'lookahead')
      return oneOf([chain(either(assertion.alternatives), position(0n)), CONDITION])
    return CONDITION
  }
  function partOf(element: AST.Element): Part {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return either(element.alternatives)
      case 'Quantifier':
        return quantifierPart(element)
      case 'Assertion':
        return assertionPart(element)
      case 'Backreference':
        throw new NotJudged('refers back')
      default:
        return position(readBy(element.raw))
    }
  }
  /** An expression without an anchor may first read any text. */
  const automaton = (whole: Part, isAnchored: boolean): Automaton => {
    if (!isAnchored) {
      const search = position(readBy('[^]'))
      link(search.last, [...search.first, ...whole.first])
    }
    return { reads, next, sure: new Set(whole.sureLast) }
  }
  return { either, automaton }
}

function refuseUnboundedLookbehind(assertion: AST.Assertion): void {
  if (assertion.kind === 'lookbehind' && !assertion.alternatives.every(isBounded))
    throw new NotJudged('looks behind without a bound')
}

const isBounded = ({ elements }: AST.Alternative): boolean => elements.every(isBoundedElement)

function isBoundedElement(element: AST.Element): boolean {
  if (element.type === 'Quantifier') return element.max <= MOST_TIMES && isBoundedElement(element.element)
  return 'alternatives' in element ? element.alternatives.every(isBounded) : element.type !== 'Backreference'
}

/** Sample characters: Latin-1 and some others, most of them with special rules for case, blanks or direction. */
const PROBES = [
  ...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)),
  '\u0131',
  '\u017f',
  '\u0410',
  '\u0430',
  '\u1680',
  '\u200e',
  '\u2028',
  '\u202a',
  '\u2066',
  '\u212a',
  '\u4e00',
]

/** Returns the probes that a character, a set or a class matches, as bits, by asking the engine. */
function characterReader(flags: string): (raw: string) => bigint {
  const known = new Map<string, bigint>()
  return (raw) => {
    const cached = known.get(raw)
    if (cached !== undefined) return cached
    const matcher = new RegExp(`^(?:${raw})$`, flags.replace(/[gym]/g, ''))
    const bits = PROBES.reduce((sum, probe, at) => (matcher.test(probe) ? sum | (1n << BigInt(at)) : sum), 0n)
    known.set(raw, bits)
    return bits
  }
}

function findSlowWay({ reads, next, sure }: Automaton): string | undefined {
  const reachable = next.map((_, from) => reachedFrom(next, from))
  const canReach = (from: number, to: number): boolean => reachable[from]?.has(to) === true
  const readsOf = (at: number): bigint => reads[at] ?? 0n
  const loops = [...next.keys()].filter((at) => canReach(at, at))
  const loopsThatCanFail = loops.filter((at) => !sure.has(at))
  for (const loop of loopsThatCanFail)
    if (hasTwoWaysAround(loop)) return 'can go around a loop in two ways, and then fail (exponential)'
  for (const second of loopsThatCanFail)
    for (const first of loops)
      if (first !== second && canReach(first, second) && leadsInto(first, second))
        return 'can go from a loop, or from where the search begins, into a loop that reads the same, and then fail'
  return undefined

  /**
   * True if two walkers can read the same text around the loop on different paths. A state has three numbers: the
   * position of each walker, and 0 until their paths have differed, then 1.
   */
  function hasTwoWaysAround(loop: number): boolean {
    const isInside = (at: number): boolean => !sure.has(at) && canReach(loop, at) && canReach(at, loop)
    return walk(
      [loop, loop, 0],
      ([left = 0, right = 0, parted = 0]) => {
        const steps: number[][] = []
        for (const [leftWay, leftTo] of (next[left] ?? []).entries())
          for (const [rightWay, rightTo] of (next[right] ?? []).entries()) {
            if (!isInside(leftTo) || !isInside(rightTo) || (readsOf(leftTo) & readsOf(rightTo)) === 0n)
              continue
            steps.push([leftTo, rightTo, parted === 1 || left !== right || leftWay !== rightWay ? 1 : 0])
          }
        return steps
      },
      [loop, loop, 1],
    )
  }

  /**
   * True if one text leads around the first loop, from it into the second, and around that one. A state has the
   * positions of three walkers that read the text at the same time, one on each of these ways.
   */
  function leadsInto(first: number, second: number): boolean {
    return walk(
      [first, first, second],
      ([around = 0, between = 0, inside = 0]) => {
        const steps: number[][] = []
        for (const aroundTo of next[around] ?? []) {
          if (!canReach(aroundTo, first)) continue
          for (const insideTo of next[inside] ?? []) {
            const shared = readsOf(aroundTo) & readsOf(insideTo)
            if (shared === 0n || sure.has(insideTo) || !canReach(insideTo, second)) continue
            for (const betweenTo of next[between] ?? [])
              if (
                (shared & readsOf(betweenTo)) !== 0n &&
                (betweenTo === second || canReach(betweenTo, second))
              )
                steps.push([aroundTo, betweenTo, insideTo])
          }
        }
        return steps
      },
      [first, second, second],
    )
  }
}

function reachedFrom(next: readonly number[][], from: number): Set<number> {
  const reached = new Set<number>()
  const open = [from]
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const to of next[at] ?? [])
      if (!reached.has(to)) {
        reached.add(to)
        open.push(to)
      }
  return reached
}

/** True if `steps` lead from one state to another. */
function walk(from: number[], steps: (state: number[]) => number[][], to: number[]): boolean {
  const [seen, target] = [new Set<string>(), to.join()]
  const open = [from]
  for (let state = open.pop(); state !== undefined; state = open.pop())
    for (const step of steps(state)) {
      const key = step.join()
      if (key === target) return true
      if (seen.has(key)) continue
      seen.add(key)
      open.push(step)
    }
  return false
}
