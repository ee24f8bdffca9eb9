/** Elements that Google, Microsoft and Yandex put in the place of a text. */
const STAND_INS = /^(FONT|YA-TR-SPAN)$/

/**
 * Translators put elements of their own in the place of our texts, although the page asks them not to. React goes on
 * changing and removing its texts: without this it would fail on the first that is gone, or an old amount would stay.
 */
export function surviveTranslators(root: Node): void {
  /** The element in the place of a text. */
  const standIns = new WeakMap<Node, Node>()
  let translated = false

  const observer = new MutationObserver(follow)

  function follow(records: MutationRecord[]): void {
    for (const record of records) {
      if (record.type === 'characterData') putBack(record.target)
      else for (const removed of record.removedNodes) remember(removed, record)
    }
  }

  function remember(removed: Node, { addedNodes, previousSibling }: MutationRecord): void {
    if (!(removed instanceof Text) || removed.isConnected) return
    const standIn = addedNodes[0] ?? previousSibling
    if (standIn === undefined || standIn === null || !STAND_INS.test(standIn.nodeName)) return
    translated = true
    standIns.set(removed, standIn)
    observer.observe(removed, { characterData: true })
  }

  /** A text that changes says it itself again. */
  function putBack(text: Node): void {
    const standIn = standIns.get(text)
    if (standIn?.parentNode && !text.isConnected) standIn.parentNode.replaceChild(text, standIn)
  }

  /** The child of `parent` that is, holds or stands for this node. */
  function placeOf(parent: Node, node: Node): Node | null {
    if (node.parentNode === parent) return node
    follow(observer.takeRecords())
    // Nobody but us was here: a defect of our own is not hidden.
    if (!translated) return node
    let place = standIns.get(node)?.isConnected ? standIns.get(node) : node
    while (place && place.parentNode !== parent) place = place.parentNode ?? undefined
    return place ?? null
  }

  const { removeChild, insertBefore } = Node.prototype
  Node.prototype.removeChild = function <T extends Node>(child: T): T {
    const place = placeOf(this, child)
    if (place !== null) removeChild.call(this, place)
    return child
  }
  Node.prototype.insertBefore = function <T extends Node>(node: T, before: Node | null): T {
    insertBefore.call(this, node, before === null ? null : placeOf(this, before))
    return node
  }
  observer.observe(root, { childList: true, subtree: true })
}
