"""A service that answers requests: whether the sender is blocked. They are a set now.    after.py SENDERS"""
import sys

blocked = {f"host-{n}.example" for n in range(int(sys.argv[1]))}


def answer(sender):
    return 403 if sender in blocked else 200


def serve(requests):
    answers = {}
    for n in range(requests):
        code = answer(f"host-{n * 7919 % 1000}.example")
        answers[code] = answers.get(code, 0) + 1
    return answers


print(serve(1000))
