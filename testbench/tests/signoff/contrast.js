// Texts that cannot be read for want of contrast: 4.5 to 1, as WCAG AA has it for letters of any size.
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  // Red, green, blue from 0 to 1, and opacity, of any colour that CSS can write.
  const parse = (text) => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      known.set(text, [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => byte / 255));
    }
    return known.get(text);
  };
  const over = ([r, g, b, a], ground) => [r, g, b].map((part, i) => part * a + ground[i] * (1 - a));
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = new Map();
  const groundOf = (element) => {
    if (!element) return [1, 1, 1];
    if (!grounds.has(element)) {
      const own = parse(getComputedStyle(element).backgroundColor);
      grounds.set(element, own[3] === 1 ? own.slice(0, 3) : over(own, groundOf(element.parentElement)));
    }
    return grounds.get(element);
  };
  const faint = [];
  let texts = 0, drawn = 0;
  const judge = (element, colour, words) => {
    const ground = groundOf(element);
    const ratio = contrast(over(parse(colour), ground), ground);
    if (ratio < 4.5 && faint.length < 20) faint.push([words.slice(0, 40), colour, ratio.toFixed(2)]);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    const words = node.data.trim();
    if (!words || ["SCRIPT", "STYLE", "style", "title"].includes(element.tagName)) continue;
    if (element.getClientRects().length === 0) continue;
    texts += 1;
    const style = getComputedStyle(element);
    if (element instanceof SVGElement) {
      drawn += 1;
      judge(element, style.fill, words);
    } else {
      judge(element, style.color, words);
    }
  }
  for (const input of document.querySelectorAll("input")) {
    judge(input, getComputedStyle(input, "::placeholder").color, input.placeholder);
  }
  // What stands on the mark, and the waves, which are lines: 3 to 1.
  for (const svg of document.querySelectorAll("svg.timing")) {
    const mark = parse(getComputedStyle(svg.querySelector(".mark")).fill).slice(0, 3);
    for (const number of svg.querySelectorAll(".small")) {
      if (contrast(parse(getComputedStyle(number).fill).slice(0, 3), mark) < 4.5) faint.push(["number on the mark"]);
    }
    for (const ground of [mark, groundOf(svg)]) {
      const wave = parse(getComputedStyle(svg.querySelector(".wave")).stroke).slice(0, 3);
      if (contrast(wave, ground) < 3) faint.push(["wave"]);
    }
  }
  return { texts, drawn, faint, ground: groundOf(document.body) };
})()
